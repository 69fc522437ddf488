/** What `npm test` and `npm run test:long` have in common, and which files the second one runs. */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import type { ViteUserConfig } from "vitest/config"
import { LongestFirst } from "#test/support/LongestFirst.ts"

declare module "vitest" {
  interface ProvidedContext {
    /** Which of the two commands runs. */
    readonly suite: "short" | "long"
  }
}

/** Files that take minutes, or need a server, as a whole. */
export const longSuites = "test/**/*.long.test.ts"

const testFolder = join(import.meta.dirname, "..")

/** Files that run on the embedded database in `npm test` and on a server in `npm run test:long`. */
export const serverSuites = (): ReadonlyArray<string> =>
  readdirSync(testFolder, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".test.ts"))
    .filter((path) => /^eachDatabase\(/mu.test(readFileSync(join(testFolder, path), "utf8")))
    .map((path) => `test/${path}`)

export const sharedSettings: NonNullable<ViteUserConfig["test"]> = {
  globalSetup: ["test/support/globalSetup.ts"],
  setupFiles: ["test/support/properties.ts"],
  testTimeout: 120_000,
  hookTimeout: 120_000,
  // One more than the smallest machine has cores, since tests of sandboxes and crashes wait for blocks and processes.
  maxWorkers: 3,
  sequence: { sequencer: LongestFirst },
  // Files share no state but modules, and loading those anew for each file is half of the work.
  isolate: false
}
