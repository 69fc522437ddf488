import { assert, describe, it } from "@effect/vitest"
import { resolveSwap } from "#domain/strategy/resolveSwap.ts"

const defaults = { slippageBps: 1, priceImpactBps: 2, thresholdUsd: 3n }
const unset = { slippageBps: null, priceImpactBps: null, thresholdUsd: null }

describe("resolveSwap", () => {
  const values = { slippageBps: [10, 20], priceImpactBps: [30, 40], thresholdUsd: [50n, 60n] } as const

  for (const field of ["slippageBps", "priceImpactBps", "thresholdUsd"] as const) {
    for (const strategy of [null, values[field][0]]) {
      for (const tenant of [null, values[field][1]]) {
        const expected = strategy ?? tenant ?? defaults[field]
        it(`${field}: strategy ${strategy}, tenant ${tenant} gives ${expected}`, () => {
          const resolved = resolveSwap(
            [
              { ...unset, [field]: strategy },
              { ...unset, [field]: tenant }
            ],
            defaults
          )
          assert.deepStrictEqual(resolved, { ...defaults, [field]: expected })
        })
      }
    }
  }

  it("zero is a value, not an absence", () =>
    assert.strictEqual(resolveSwap([{ ...unset, slippageBps: 0 }], defaults).slippageBps, 0))
})
