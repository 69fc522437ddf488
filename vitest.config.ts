import { defineConfig } from "vitest/config"
import { LongestFirst } from "./test/support/LongestFirst.ts"

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/support/globalSetup.ts"],
    setupFiles: ["test/support/properties.ts"],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // One more than the smallest machine has cores, since tests of worlds and crashes wait for blocks and processes.
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
    // Files share no state but modules, and loading those anew for each file is half of the work.
    isolate: false
  }
})
