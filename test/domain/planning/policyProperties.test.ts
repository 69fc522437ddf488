import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import type { ChainPlan, PlanInput } from "#domain/planning/Plan.ts"
import { plan } from "#domain/planning/planRebalance.ts"
import { SkipCode } from "#domain/values/Skip.ts"
import { applyPlan } from "#test/domain/planning/applyPlan.ts"
import { usd } from "#test/domain/planning/examples.ts"
import { policyPortfolio } from "#test/domain/planning/policies.ts"

const numRuns = 800

const check = (arbitrary: fc.Arbitrary<PlanInput>, holds: (input: PlanInput) => void) =>
  fc.assert(fc.property(arbitrary, holds), { numRuns })

const legsOf = (chains: ReadonlyArray<ChainPlan>) => chains.flatMap(({ legs }) => legs)

/** Value in floating point, by the input alone. */
const valueOf = ({ chains }: PlanInput, at: number): ReadonlyMap<string, number> =>
  new Map(
    chains[at]!.holdings.map(({ assetId, balanceRaw, decimals, priceUsd }) => [
      assetId,
      (Number(balanceRaw) / 10 ** decimals) * (Number(priceUsd ?? 0n) / 1e18)
    ])
  )

describe("plan with a policy: properties", () => {
  it("never sells more than is held, and only sells or only buys an asset", () =>
    check(policyPortfolio(), (input) => {
      const planned = plan(input)
      const sold = new Set(legsOf(planned.chains).map(({ sell }) => sell))
      for (const { buy, expectedBuyRaw, sellAmountRaw } of legsOf(planned.chains)) {
        assert.isFalse(sold.has(buy))
        assert.isTrue(sellAmountRaw > 0n && expectedBuyRaw > 0n)
      }
      for (const { holdings } of applyPlan(input, planned).chains)
        for (const { balanceRaw } of holdings) assert.isTrue(balanceRaw >= 0n)
    }))

  it("comes to rest: planned again on its own result, there is nothing to do where each target is several least trades", () =>
    check(policyPortfolio({ isFine: true, isFree: true }), (input) => {
      const least = input.preferences.thresholdUsd
      const second = plan(applyPlan(input, plan(input)))
      for (const { legs, targets } of second.chains) {
        const isLarge = targets.every(({ targetUsd, weight }) => weight === 0 || targetUsd! >= 4n * least)
        if (isLarge) assert.deepStrictEqual(legs, [])
      }
    }))

  it("comes to rest within three plans with assets that cannot be traded and tokens of any coarseness", () =>
    check(policyPortfolio(), (input) => {
      const second = applyPlan(input, plan(input))
      const third = applyPlan(second, plan(second))
      assert.deepStrictEqual(legsOf(plan(third).chains), [])
    }))

  it("leaves every asset inside of its band, or says what it would cost to trade it", () =>
    check(policyPortfolio({ isFine: true, isFree: true }), (input) => {
      for (const { skips, targets } of plan(input).chains) {
        for (const { assetId, code } of skips) {
          if (assetId === null || targets.find((one) => one.assetId === assetId)?.weight === 0) continue
          if (code !== SkipCode.noCounterpart) continue
          assert.isTrue(skips.some((skip) => skip.code === SkipCode.notWorthCost))
        }
      }
    }))

  it("makes trades only where what they remove of the cost of drift is worth more than all they cost", () =>
    check(policyPortfolio({ isFine: true, isFree: true }), (input) => {
      const planned = plan(input)
      for (const [at, { legs, measures, skips, targets, weight }] of planned.chains.entries()) {
        const gas = input.policy!.gas.get(input.chains[at]!.chainId)!
        const refused = skips.find(({ code }) => code === SkipCode.notWorthCost)
        if (legs.length === 0) {
          if (refused === undefined) continue
          assert.isTrue(measures!.worth!.benefitUsd <= measures!.worth!.costUsd)
          assert.include(refused.reason, "remove drift worth")
          continue
        }
        assert.isUndefined(refused)
        const rate = (input.feeBps + input.policy!.reserveBps) / 10_000
        const cost =
          legs.reduce((sum, { valueUsd }) => sum + (Number(valueUsd) / 1e18) * rate, 0) +
          Number(gas.operationUsd + gas.swapUsd * BigInt(legs.length)) / 1e18
        const { benefitUsd, costUsd } = measures!.worth!
        assert.closeTo(Number(costUsd) / 1e18, cost, 1e-6 + cost * 1e-6)
        assert.isTrue(benefitUsd > costUsd)
        // The drift itself shrinks: by values alone, without a figure of the planner's.
        const total = [...valueOf(input, at).values()].reduce((sum, value) => sum + value, 0)
        const after = valueOf(applyPlan(input, planned), at)
        const before = valueOf(input, at)
        const off = (values: ReadonlyMap<string, number>) =>
          Math.max(
            ...targets.map(({ assetId, weight: target }) =>
              Math.abs((values.get(assetId) ?? 0) - (total * target) / weight)
            )
          )
        assert.isAtMost(off(after), off(before) * 1.000_001 + 0.05)
      }
    }))

  it("says of every cost whether gas is in it, or is not known", () => {
    const seen = new Set<string>()
    const saysGas = (isKnown: boolean) => (input: PlanInput) => {
      const limited = { ...input, policy: { ...input.policy!, maxCostUsd: usd("0.5") } }
      for (const { measures, skips } of plan(limited).chains) {
        if (measures?.worth != null) assert.strictEqual(measures.worth.isGasUnknown, isKnown ? undefined : true)
        for (const { code, reason } of skips) {
          if (code !== SkipCode.notWorthCost && code !== SkipCode.costLimit) continue
          seen.add(`${code} ${isKnown}`)
          assert.strictEqual(reason.includes("gas not included, which is not known now"), !isKnown, reason)
          if (!isKnown) assert.notInclude(reason, "gas of")
        }
      }
    }
    check(policyPortfolio({ isFine: true, isFree: true }), saysGas(true))
    check(policyPortfolio({ isFine: true, isFree: true }, true), saysGas(false))
    assert.lengthOf([...seen], 4)
  })

  it("gives the same legs whatever the order of the input", () =>
    check(policyPortfolio({ isFine: true }), (input) => {
      const names = (from: PlanInput) =>
        legsOf(plan(from).chains)
          .map(({ buy, expectedBuyRaw, sell, sellAmountRaw }) => `${sell} ${buy} ${sellAmountRaw} ${expectedBuyRaw}`)
          .sort()
      const reversed: PlanInput = {
        ...input,
        allocation: input.allocation.toReversed(),
        chains: input.chains.map((chain) => ({ ...chain, holdings: chain.holdings.toReversed() })).toReversed()
      }
      assert.deepStrictEqual(names(reversed), names(input))
    }))

  it("costs no more than the policy's limit", () =>
    check(policyPortfolio({ isFine: true, isFree: true }), (input) => {
      const limit = 20n * 10n ** 18n
      const planned = plan({ ...input, policy: { ...input.policy!, maxCostUsd: limit } })
      const cost = planned.chains.reduce(
        (sum, { legs, measures }) => sum + (legs.length > 0 ? measures!.worth!.costUsd : 0n),
        0n
      )
      assert.isTrue(cost <= limit)
    }))
})
