/** What `npm test` and `npm run test:long` have in common, and which files the second one runs. */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import type { ViteUserConfig } from "vitest/config"
import { BaseSequencer, type TestSpecification } from "vitest/node"

/** Beginnings of paths below `test/`, in the order in which they go. All others follow. */
const longest = ["fault/", "simulation/", "world/", "sandbox/", "layers/engine/", "layers/evm/", "api/"]

const placeOf = ({ moduleId }: TestSpecification): number => {
  const place = longest.findIndex((path) => moduleId.includes(`/test/${path}`))
  return place === -1 ? longest.length : place
}

/** Begins with the files that take longest, so that no worker is left alone with one at the end. */
class LongestFirst extends BaseSequencer {
  override async sort(files: Array<TestSpecification>): Promise<Array<TestSpecification>> {
    return (await super.sort(files)).toSorted((a, b) => placeOf(a) - placeOf(b))
  }
}

declare module "vitest" {
  interface ProvidedContext {
    /** Which of the two commands runs. */
    readonly suite: "short" | "long"
  }
}

/** Files that take minutes, or need a server, as a whole. */
export const longSuites = "test/**/*.long.test.ts"

const testFolder = join(import.meta.dirname, "../..")

/** Files that run on the embedded database in `npm test` and on a server in `npm run test:long`. */
export const serverSuites = (): ReadonlyArray<string> =>
  readdirSync(testFolder, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".test.ts"))
    .filter((path) => /^(?:eachDatabase|onEachDatabase)\(/mu.test(readFileSync(join(testFolder, path), "utf8")))
    .map((path) => `test/${path}`)

export const sharedSettings: NonNullable<ViteUserConfig["test"]> = {
  globalSetup: ["test/support/suite/globalSetup.ts"],
  setupFiles: ["test/support/suite/properties.ts"],
  // More than twice the patience of one wait, so that the wait ends first and says what did not come.
  testTimeout: 600_000,
  hookTimeout: 600_000,
  // One more than the smallest machine has cores, since tests of sandboxes and crashes wait for blocks and processes.
  maxWorkers: 3,
  sequence: { sequencer: LongestFirst },
  // Files share no state but modules, and loading those anew for each file is half of the work.
  isolate: false
}
