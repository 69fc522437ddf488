/**
 * A few of the moments of the crash matrix, quickly: a run with a reverted batch, a transfer and its watch is killed at
 * five of its boundaries. `crashMatrix.long.test.ts` goes through all boundaries of all kinds of runs.
 */
import { Effect } from "effect"
import { assert, describe, it } from "vitest"
import { spreadOver } from "#test/fault/crash/runMatrix.ts"
import { compileCache, marketMatrix } from "#test/fault/crash/scenarioMatrix.ts"

const sample = 5

describe("kill -9 at some boundaries", () => {
  it("of a transfer whose first batch is reverted and whose bridge is late", async () => {
    const matrix = await Effect.runPromise(
      Effect.flatMap(compileCache, (cacheDir) =>
        marketMatrix("a transfer whose first batch is reverted and whose bridge is late", cacheDir, sample)
      ).pipe(Effect.scoped)
    )
    assert.deepStrictEqual(matrix.problems, [])
    assert.isAtLeast(matrix.crashes, sample)
  })

  it("that are spread over the whole of the run", () => {
    const moments = Array.from({ length: 10 }, (_, index) => `${index}`)
    assert.deepStrictEqual(spreadOver(moments, 4), ["0", "3", "6", "9"])
    assert.deepStrictEqual(spreadOver(moments, 20), moments)
  })
})
