import { assert, describe, it } from "@effect/vitest"
import { resolveSwap } from "#domain/strategy/resolveSwap.ts"
import { swapCombinations } from "#test/support/swapCombinations.ts"

const defaults = { slippageBps: 1, priceImpactBps: 2, thresholdUsd: 3n }
const unset = { slippageBps: null, priceImpactBps: null, thresholdUsd: null }
const strategy = { slippageBps: 10, priceImpactBps: 20, thresholdUsd: 30n }
const tenant = { slippageBps: 100, priceImpactBps: 200, thresholdUsd: 300n }

describe("resolveSwap", () => {
  const combinations = swapCombinations(strategy, tenant, defaults)

  it("has every combination of what strategy and tenant set", () => assert.strictEqual(combinations.length, 64))

  for (const { expected, label, strategy, tenant } of combinations) {
    it(label, () => assert.deepStrictEqual(resolveSwap([strategy, tenant], defaults), expected))
  }

  it("zero is a value, not an absence", () =>
    assert.deepStrictEqual(resolveSwap([{ slippageBps: 0, priceImpactBps: 0, thresholdUsd: 0n }, tenant], defaults), {
      slippageBps: 0,
      priceImpactBps: 0,
      thresholdUsd: 0n
    }))

  it("without any level the defaults apply", () => {
    assert.deepStrictEqual(resolveSwap([], defaults), defaults)
    assert.deepStrictEqual(resolveSwap([unset, unset], defaults), defaults)
  })
})
