import { assert, describe, it } from "@effect/vitest"
import { resolveSwap, swapLimits } from "#domain/strategy/resolveSwap.ts"
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

describe("swapLimits", () => {
  const settings = {
    defaults: { slippageBps: 50, priceImpactBps: 100, thresholdUsd: 5n },
    mirrorCap: { slippageBps: 90, priceImpactBps: 90 },
    minTradeUsd: 2n
  }
  const limits = (bps: number | null, thresholdUsd: bigint | null = null) => ({
    slippageBps: bps,
    priceImpactBps: bps,
    thresholdUsd
  })

  it("of a mirrored strategy are the least slippage and impact that anybody set, whoever that is", () => {
    const levels = [1, 40, 70, 95, 200, null] as const
    for (const creator of levels) {
      for (const accepted of levels) {
        for (const tenant of levels) {
          const found = swapLimits(
            { strategy: limits(creator), accepted: limits(accepted), tenant: limits(tenant) },
            settings
          )
          const label = `creator ${creator}, accepted ${accepted}, tenant ${tenant}`
          for (const [field, byDefault] of [
            ["slippageBps", 50],
            ["priceImpactBps", 100]
          ] as const) {
            const bounds = [creator, accepted, tenant === null ? byDefault : tenant, 90].flatMap((bps) => bps ?? [])
            assert.isTrue(bounds.every((bound) => found[field] <= bound) && bounds.includes(found[field]), label)
          }
        }
      }
    }
  })

  it("of a mirrored strategy have the greater threshold, and none that its tenant has not accepted", () => {
    const threshold = (creator: bigint | null, accepted: bigint | null, tenant: bigint | null) =>
      swapLimits(
        { strategy: limits(null, creator), accepted: limits(null, accepted), tenant: limits(null, tenant) },
        settings
      ).thresholdUsd
    assert.strictEqual(threshold(0n, 0n, null), 5n)
    assert.strictEqual(threshold(0n, 30n, 10n), 30n)
    assert.strictEqual(threshold(1_000_000n, 30n, 40n), 40n)
    assert.strictEqual(threshold(1_000_000n, null, null), 5n)
  })

  it("of the tenant's own strategy are the strategy's, and no trade is below the service's least", () => {
    const own = swapLimits({ strategy: limits(1000, 0n), tenant: limits(10, 7n), accepted: null }, settings)
    assert.deepStrictEqual(own, { slippageBps: 1000, priceImpactBps: 1000, thresholdUsd: 2n })
  })
})
