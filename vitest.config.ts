import { configDefaults, defineConfig } from "vitest/config"
import { longSuites, sharedSettings } from "#test/support/suite/suites.ts"

/** `npm test`: everything but the long suites, which `vitest.long.config.ts` runs. */
export default defineConfig({
  test: {
    ...sharedSettings,
    provide: { suite: "short" },
    include: ["test/**/*.test.ts"],
    exclude: [...configDefaults.exclude, longSuites]
  }
})
