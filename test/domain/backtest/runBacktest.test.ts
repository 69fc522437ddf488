/** A backtest decides each day by what was known on that day. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as fc from "fast-check"
import type { BacktestTask, Course } from "#domain/backtest/Backtest.ts"
import { type History, runBacktest } from "#domain/backtest/runBacktest.ts"
import * as Day from "#domain/values/Day.ts"
import * as Decimal from "#domain/values/Decimal.ts"
import { lookbackDays } from "#domain/rebalance/plan/planPolicyOf.ts"
import { baseUsdc, baseWeth } from "#test/support/assets.ts"

const from = 20_000 as Day.Day
const length = 60
const before = lookbackDays + 1

const task: BacktestTask = {
  allocation: [
    { assetId: baseUsdc.assetId, weight: 5_000 },
    { assetId: baseWeth.assetId, weight: 5_000 }
  ],
  schedule: { type: "interval", frequency: "daily" },
  rebalancePolicy: { band: { kind: "auto" } },
  from,
  to: Day.add(from, length - 1),
  valueUsd: 10_000n * Decimal.one,
  thresholdUsd: Decimal.one,
  slippageBps: 50,
  feeBps: 30,
  gasUsd: Decimal.one / 10n
}

/** Daily factors of the price, in thousandths. */
const factors = fc.array(fc.integer({ min: 850, max: 1_150 }), {
  minLength: before + length,
  maxLength: before + length
})

const historyOf = (path: ReadonlyArray<number>): History => {
  let price = 2_000n * Decimal.one
  const prices = new Map<Day.Day, bigint>()
  const dollars = new Map<Day.Day, bigint>()
  for (const [at, factor] of path.entries()) {
    price = (price * BigInt(factor)) / 1_000n
    prices.set(Day.add(from, at - before), price)
    dollars.set(Day.add(from, at - before), Decimal.one)
  }
  return new Map([
    [baseUsdc.assetId, dollars],
    [baseWeth.assetId, prices]
  ])
}

const run = (path: ReadonlyArray<number>) => Effect.runSync(runBacktest(task, historyOf(path), Decimal.one))

describe("a backtest", () => {
  it("does nothing on a day that depends on a later one: another future leaves every value up to then as it was", () => {
    let traded = 0
    fc.assert(
      fc.property(factors, factors, fc.integer({ min: 1, max: length - 2 }), (path, other, day) => {
        const known = before + day
        const [first, second] = [run(path), run([...path.slice(0, known + 1), ...other.slice(known + 1)])]
        const seen = ({ points }: Course) => points.slice(0, day + 1)
        for (const course of ["strategy", "exactTarget", "buyAndHold"] as const)
          assert.deepStrictEqual(seen(second[course]), seen(first[course]))
        traded += first.strategy.trades
      }),
      { numRuns: 30 }
    )
    assert.isAbove(traded, 0)
  })
})
