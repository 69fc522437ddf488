/**
 * What a policy would have done over past days: the planner of the service checks the portfolio on the days of its
 * schedule and reads prices up to that day alone, volatility included.
 *
 * A day on which an asset has no price has no point, and a check that falls on it is made on the next day that has all.
 * Days take turns with other work of the process.
 */
import { Effect } from "effect"
import type { AssetId } from "#domain/values/Caip.ts"
import type { Backtest, BacktestTask, Course, ValuePoint } from "#domain/backtest/Backtest.ts"
import { followRule, type Rule, type Walk } from "#domain/backtest/followRule.ts"
import { plannedAsset, plannedChain, plannerRule } from "#domain/backtest/plannerRule.ts"
import * as Day from "#domain/values/Day.ts"
import { dailyReturns, yearlyDeviation } from "#domain/market/volatility.ts"
import type { RebalancePolicy } from "#domain/mandate/RebalancePolicy.ts"
import { intervalMs } from "#domain/mandate/RebalanceSchedule.ts"
import { lookbackDays, planPolicyOf } from "#domain/rebalance/plan/planPolicyOf.ts"

/** Recorded prices of each asset by day, from `lookbackDays` before the first day on. */
export type History = ReadonlyMap<AssetId, ReadonlyMap<Day.Day, bigint>>

const dayMs = 86_400_000
const weekDays = 7
/** Days between two turns of other work. */
const daysPerTurn = 8

interface Step {
  readonly day: Day.Day
  readonly prices: ReadonlyArray<bigint>
  /** A check of the schedule falls on this day, or on one before it that had no prices. */
  readonly isDue: boolean
}

/** The days that have all prices. */
const stepsOf = ({ allocation, from, schedule, to }: BacktestTask, history: History): ReadonlyArray<Step> => {
  const everyDays = Math.max(1, intervalMs[schedule.frequency] / dayMs)
  const series = allocation.map(({ assetId }) => history.get(assetId))
  const steps: Array<Step> = []
  let isDue = false
  for (let day = from; day <= to; day = Day.add(day, 1)) {
    isDue ||= day > from && (day - from) % everyDays === 0
    const prices = series.flatMap((one) => one?.get(day) ?? [])
    if (prices.length < allocation.length) continue
    steps.push({ day, prices, isDue })
    isDue = false
  }
  return steps
}

/** Volatility as it is measured on a day, from the returns of the days before it and its own. */
const volatilityBy = ({ allocation }: BacktestTask, history: History) => {
  const returns = allocation.map(({ assetId }) => dailyReturns(history.get(assetId) ?? new Map()))
  return (day: Day.Day) =>
    new Map(
      returns.flatMap((one, index) => {
        const seen: Array<number> = []
        for (let at = Day.add(day, 1 - lookbackDays); at <= day; at = Day.add(at, 1)) {
          const found = one.get(at)
          if (found !== undefined) seen.push(found)
        }
        const volatility = yearlyDeviation(seen)
        return volatility === undefined ? [] : [[plannedAsset(index), volatility] as const]
      })
    )
}

/**
 * The policy with the assets of the planner's one chain; entries for assets outside of the allocation have no effect.
 */
const onPlannedChain = (policy: RebalancePolicy, { allocation }: BacktestTask): RebalancePolicy => ({
  ...policy,
  overrides: (policy.overrides ?? []).flatMap(({ assetId, band }) => {
    const index = allocation.findIndex((target) => target.assetId === assetId)
    return index < 0 ? [] : [{ assetId: plannedAsset(index), band }]
  })
})

const exactRule = ({ allocation, feeBps, thresholdUsd }: BacktestTask, steps: ReadonlyArray<Step>): Rule =>
  plannerRule({
    weights: allocation.map(({ weight }) => weight),
    thresholdUsd,
    feeBps,
    isDue: (step) => steps[step]!.isDue
  })

/** The days that have been, as a policy sees them one after the other. */
interface Replay {
  readonly task: BacktestTask
  readonly history: History
  readonly steps: ReadonlyArray<Step>
  /** US dollars (wad). */
  readonly minTradeUsd: bigint
}

const policyRule = ({ history, minTradeUsd, steps, task }: Replay, policy: RebalancePolicy): Rule => {
  const volatilityOn = volatilityBy(task, history)
  const spent: Array<{ readonly day: Day.Day; readonly usd: bigint }> = []
  const applied = onPlannedChain(policy, task)
  const gas = new Map([[plannedChain, { operationUsd: 0n, swapUsd: task.gasUsd }]])
  return plannerRule({
    weights: task.allocation.map(({ weight }) => weight),
    thresholdUsd: task.thresholdUsd,
    feeBps: task.feeBps,
    isDue: (step) => steps[step]!.isDue,
    onCost: (step, usd) => spent.push({ day: steps[step]!.day, usd }),
    policyAt: (step, valueUsd) => {
      const { day } = steps[step]!
      return planPolicyOf(applied, {
        gas,
        valueUsd,
        minTradeUsd,
        volatility: volatilityOn(day),
        spentUsd: spent.reduce((sum, one) => (one.day > day - weekDays ? sum + one.usd : sum), 0n),
        slippageBps: task.slippageBps,
        secondsToNextCheck: Math.max(dayMs, intervalMs[task.schedule.frequency]) / 1_000
      })
    }
  })
}

/** Needs prices of all assets on the first day. */
export const runBacktest = Effect.fnUntraced(function* (task: BacktestTask, history: History, minTradeUsd: bigint) {
  const steps = stepsOf(task, history)
  const { allocation, rebalancePolicy, valueUsd } = task
  const start = { weights: allocation.map(({ weight }) => weight), valueUsd, prices: steps[0]!.prices }
  const exact = exactRule(task, steps)
  const rules: ReadonlyArray<Rule> = [
    rebalancePolicy === undefined
      ? exactRule(task, steps)
      : policyRule({ task, history, steps, minTradeUsd }, rebalancePolicy),
    exact,
    () => []
  ]
  const walks = rules.map((rule): Walk => followRule(rule, start, task))
  const points = walks.map((): Array<ValuePoint> => [])
  for (const [at, { day, prices }] of steps.entries()) {
    for (const [index, walk] of walks.entries()) points[index]!.push({ day, usd: walk.advance(prices) })
    if (at % daysPerTurn === daysPerTurn - 1) yield* Effect.yieldNow
  }
  const [strategy, exactTarget, buyAndHold] = walks.map((walk, index): Course => ({
    ...walk.outcome(),
    points: points[index]!
  })) as [Course, Course, Course]
  return { task, strategy, exactTarget, buyAndHold } satisfies Backtest
})
