import { defineConfig } from "vitest/config"
import { longSuites, serverSuites, sharedSettings } from "#test/support/suite/suites.ts"

/** `npm run test:long`: the suites that take minutes, and the storage suites on a PostgreSQL server. */
export default defineConfig({
  test: { ...sharedSettings, provide: { suite: "long" }, include: [longSuites, ...serverSuites()] }
})
