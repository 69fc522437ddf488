/** Half ether, half dollars, over two quarters of weekly checks: what the planner trades at a risk aversion. */
import { assert, describe, it } from "@effect/vitest"
import * as Decimal from "#domain/values/Decimal.ts"
import { followRule } from "#domain/backtest/followRule.ts"
import { plannedAsset, plannedChain, plannerRule } from "#domain/backtest/plannerRule.ts"
import { planPolicyOf } from "#domain/rebalance/plan/planPolicyOf.ts"
import type { RebalancePolicy } from "#domain/mandate/RebalancePolicy.ts"

/** Comes and goes: no move away from the start lasts. */
const sideways = [1.08, 1.07, 0.9, 0.95, 1.12, 1.1, 0.93, 0.88, 0.9, 1.15, 1.1, 0.92, 1.05]
/** Rises by half, with setbacks. */
const rising = [1.09, 0.94, 1.11, 0.95, 1.12, 0.93, 1.1, 1.08, 0.92, 1.12, 0.94, 1.1, 1.06]

const exactWad = (value: number) => BigInt(Math.round(value * 1e9)) * 1_000_000_000n
const weights = [5_000, 5_000]
const startUsd = 10_000n * Decimal.one
const gas = new Map([[plannedChain, { operationUsd: Decimal.one / 5n, swapUsd: Decimal.one / 10n }]])
const volatility = new Map([
  [plannedAsset(0), exactWad(0.5)],
  [plannedAsset(1), exactWad(0.02)]
])

const follow = (moves: ReadonlyArray<number>, policy?: RebalancePolicy) => {
  const policyAt = (_: number, valueUsd: bigint) =>
    planPolicyOf(policy!, {
      gas,
      volatility,
      secondsToNextCheck: 7 * 86_400,
      valueUsd,
      spentUsd: 0n,
      slippageBps: 50,
      minTradeUsd: Decimal.one
    })
  const terms = { weights, thresholdUsd: Decimal.one, feeBps: 30 }
  const rule = plannerRule(policy === undefined ? terms : { ...terms, policyAt })
  const walk = followRule(
    rule,
    { weights, valueUsd: startUsd, prices: [Decimal.one, Decimal.one] },
    { feeBps: 30, gasUsd: 0n }
  )
  let price = 1
  for (const move of moves) {
    price *= move
    walk.advance([exactWad(price), Decimal.one])
  }
  const { costUsd, error, trades } = walk.outcome()
  return { costUsd: Number(costUsd / 1_000_000_000n) / 1e9, trades, error }
}

const auto = (riskAversion?: number): RebalancePolicy => ({
  band: { kind: "auto", ...(riskAversion === undefined ? {} : { riskAversion }) }
})

describe("a quarter at the default risk aversion", () => {
  it("that rises by half trades twice instead of every week, for less than a third of the cost", () => {
    const [exact, byDefault] = [follow(rising), follow(rising, auto())]
    assert.deepStrictEqual([exact.trades, byDefault.trades], [13, 2])
    assert.isBelow(byDefault.costUsd, exact.costUsd / 3)
    assert.isBelow(byDefault.error, 0.04)
    assert.deepStrictEqual(byDefault, follow(rising, auto(10)))
  })

  it("that comes and goes trades nothing: the exact target pays every week and ends no closer", () => {
    const [exact, byDefault] = [follow(sideways), follow(sideways, auto())]
    assert.deepStrictEqual([exact.trades, byDefault.trades], [13, 0])
    assert.isAbove(exact.costUsd, 9)
    assert.isBelow(byDefault.error, exact.error * 1.1)
  })

  it("trades more the more drift is minded", () => {
    for (const moves of [sideways, rising]) {
      const costs = [10, 30, 100, 1_000].map((aversion) => follow(moves, auto(aversion)).costUsd)
      assert.deepStrictEqual(
        costs,
        costs.toSorted((a, b) => a - b)
      )
      assert.isBelow(costs.at(-1)!, follow(moves).costUsd)
    }
  })
})
