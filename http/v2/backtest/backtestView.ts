/** A backtest as the wire has it, and a request as the domain takes it. */
import type { Backtest, Course } from "#domain/backtest/Backtest.ts"
import type { BacktestDraft } from "#domain/backtest/Backtests.ts"
import * as Day from "#domain/values/Day.ts"
import * as Decimal from "#domain/values/Decimal.ts"
import { changeOf, formatPercent } from "#domain/performance/percent.ts"
import type { Backtest as View, BacktestDraft as Body } from "#http/v2/backtest/BacktestModel.ts"

const defaultValueUsd = 10_000n * Decimal.one
/** One hop through a pool of Uniswap v2. */
const defaultFeeBps = 30
const defaultGasUsd = Decimal.one / 10n
/** Shares in billionths as integers of 18 decimal places. */
const ofNano = 1_000_000_000n
const bps = 10_000n

export const backtestDraft = ({ allocation, feeBps, gasUsd, valueUsd, ...body }: typeof Body.Type): BacktestDraft => ({
  ...body,
  allocation: allocation.assets,
  valueUsd: valueUsd ?? defaultValueUsd,
  feeBps: feeBps ?? defaultFeeBps,
  gasUsd: gasUsd ?? defaultGasUsd
})

/** Rounded to the nearest of six decimals: amounts are cut where they are bought, by far less. */
const dollars = (usd: bigint): string => Decimal.formatUsd(usd + 500_000_000_000n)

const courseView = ({ costNano, costUsd, error, points, trades, turnoverNano }: Course) => {
  const [first, last] = [points[0]!, points.at(-1)!]
  return {
    endValueUsd: dollars(last.usd),
    percentChange: formatPercent(changeOf(first.usd, last.usd)),
    costUsd: dollars(costUsd),
    costBps: Decimal.format(costNano * ofNano * bps, 2),
    turnover: Decimal.format(turnoverNano * ofNano, 4),
    trackingError: (error * 100).toFixed(4),
    trades,
    points: points.map(({ day, usd }) => ({ date: Day.format(day), valueUsd: dollars(usd) }))
  }
}

export const backtestView = ({ buyAndHold, exactTarget, strategy, task }: Backtest): typeof View.Type => ({
  from: Day.format(task.from),
  to: Day.format(task.to),
  feeBps: task.feeBps,
  gasUsd: Decimal.formatUsd(task.gasUsd),
  thresholdUsd: Decimal.formatUsd(task.thresholdUsd),
  strategy: courseView(strategy),
  exactTarget: courseView(exactTarget),
  buyAndHold: courseView(buyAndHold)
})
