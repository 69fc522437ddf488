/** What comes in and goes out under a policy, and small holdings that are swept. */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import type { PlanInput } from "#domain/planning/Plan.ts"
import { plan } from "#domain/planning/planRebalance.ts"
import { SkipCode } from "#domain/values/Skip.ts"
import { base, chain, dai, held, input, usdc, usd, wbtc, weth } from "#test/domain/planning/examples.ts"
import { assetAt } from "#test/domain/rebalance/portfolios.ts"
import { gasOn, policy } from "#test/domain/planning/policies.ts"

const targets = [usdc, weth, wbtc, dai] as const

const band = fc.oneof(
  fc.integer({ min: 1, max: 3_000 }).map((width) => ({ kind: "relative" as const, width })),
  fc.integer({ min: 1, max: 1_000 }).map((riskAversion) => ({ kind: "auto" as const, riskAversion }))
)

const tradeTo = fc.constantFrom(undefined, "target" as const, "edge" as const, "half" as const)

/** A portfolio of $40,000 in four equal parts, but for what came in or went out of one of them. */
const after = (flowUsd: number, at: number, more: Parameters<typeof policy>[0]): PlanInput => ({
  ...input(
    [chain(targets.map((assetId, index) => held(assetId, 10_000 + (index === at ? flowUsd : 0))))],
    targets.map((assetId) => [assetId, 25] as const),
    { feeBps: 30 }
  ),
  policy: policy(more)
})

const legsOf = (of: PlanInput) => plan(of).chains[0]!.legs

describe("cash flows under flow_first", () => {
  it("a deposit is spent on what lacks, and nothing else is sold", () => {
    let spent = 0
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 200_000 }),
        fc.nat(3),
        fc.record({ band, tradeTo }),
        (flowUsd, at, more) => {
          const legs = legsOf(after(flowUsd, at, more))
          spent += legs.length
          for (const { buy, sell } of legs) {
            assert.strictEqual(sell, targets[at])
            assert.notStrictEqual(buy, targets[at])
          }
        }
      ),
      { numRuns: 500 }
    )
    assert.isAbove(spent, 100)
  })

  it("a withdrawal is made up for by what is above its target, and nothing else is bought", () => {
    let filled = 0
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 10_000 }), fc.nat(3), fc.record({ band, tradeTo }), (flowUsd, at, more) => {
        const of = after(-flowUsd, at, more)
        const legs = legsOf(of)
        filled += legs.length
        for (const { buy, sell } of legs) {
          assert.strictEqual(buy, targets[at])
          assert.notStrictEqual(sell, targets[at])
        }
      }),
      { numRuns: 500 }
    )
    assert.isAbove(filled, 100)
  })

  it("a flow inside of the bands trades nothing", () => {
    for (const flowUsd of [500, -500])
      assert.deepStrictEqual(legsOf(after(flowUsd, 0, { band: { kind: "relative", width: 1_000 } })), [])
  })
})

describe("small holdings that are no target", () => {
  const small = [20, 21, 22, 23].map((index) => assetAt(base, index))
  /** Each of them worth so many dollars, beside a portfolio on target. */
  const beside = (dollars: number, count: number, more: Parameters<typeof policy>[0] = {}): PlanInput => ({
    ...input(
      [chain([held(usdc, 60), held(weth, 60), ...small.slice(0, count).map((assetId) => held(assetId, dollars))])],
      [
        [usdc, 50],
        [weth, 50]
      ]
    ),
    policy: policy(more)
  })

  it("are sold together, whole and for one asset, once their sum is the minimum trade", () => {
    const legs = legsOf(beside(2, 4))
    assert.deepStrictEqual(legs.map(({ sell }) => sell).sort(), [...small].sort())
    assert.strictEqual(new Set(legs.map(({ buy }) => buy)).size, 1)
    for (const { sellAmountRaw, valueUsd } of legs) {
      assert.strictEqual(sellAmountRaw, 2_000_000n)
      assert.strictEqual(valueUsd, usd("2"))
    }
  })

  it("are kept below it, each with its figure", () => {
    const [planned] = plan(beside(2, 2)).chains
    assert.deepStrictEqual(planned!.legs, [])
    const skips = planned!.skips.filter(({ assetId }) => assetId !== null && small.includes(assetId))
    assert.deepStrictEqual(
      skips.map(({ code }) => code),
      [SkipCode.belowMinTrade, SkipCode.belowMinTrade]
    )
    for (const { reason } of skips)
      assert.include(reason, "2.00 USD above its target, less than the minimum trade of 5.00 USD")
  })

  it("are kept where their gas is worth more than a year of them", () => {
    const [planned] = plan(beside(2, 4, { gas: gasOn("1", "0.50") })).chains
    assert.deepStrictEqual(planned!.legs, [])
    assert.isTrue(planned!.skips.some(({ code }) => code === SkipCode.notWorthCost))
  })

  it("are left where each is below the least that is swept", () =>
    assert.deepStrictEqual(legsOf(beside(2, 4, { minSweepUsd: usd("2.01") })), []))
})
