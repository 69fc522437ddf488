/** Performance as v2 shows it. Source: shapes 2.11 and 2.25, interface "Number formats". */
import { DateTime } from "effect"
import * as Day from "#domain/Day.ts"
import * as Decimal from "#domain/Decimal.ts"
import { indexOne } from "#domain/performance/CurvePoint.ts"
import { changeOf, formatPercent } from "#domain/performance/percent.ts"
import type { PerformanceWindow } from "#domain/performance/PerformanceWindow.ts"
import type { PortfolioPerformance } from "#domain/performance/PortfolioPerformances.ts"
import type { PortfolioPoint } from "#domain/performance/portfolioCurve.ts"
import type { StrategyPerformance } from "#domain/performance/StrategyPerformances.ts"

const metaView = (asOf: DateTime.Utc) => ({
  method: "TWR" as const,
  currency: "USD" as const,
  resolution: "1d" as const,
  asOf: DateTime.formatIso(asOf)
})

const percentOf = (index: bigint): string => formatPercent(changeOf(indexOne, index))

export const summaryView = (windows: ReadonlyArray<PerformanceWindow>) => ({
  windows: windows.map(({ percentChange, since, window }) => ({
    window,
    percentChange: formatPercent(percentChange),
    since
  }))
})

export const strategyPerformanceView = ({ asOf, points, schedule, strategyId, windows }: StrategyPerformance) => ({
  strategyId,
  schedule,
  meta: metaView(asOf),
  points: points.map(({ day, index }) => ({ date: Day.format(day), percentChange: percentOf(index) })),
  ...(windows === null ? {} : { summary: summaryView(windows) })
})

const portfolioPointView = ({ cashFlowUsd, day, index, isRebased, valueUsd }: PortfolioPoint, today: Day.Day) => ({
  date: Day.format(day),
  percentChange: index === null ? null : percentOf(index),
  valueUsd: Decimal.formatUsd(valueUsd),
  cashFlowUsd: Decimal.formatUsd(cashFlowUsd),
  ...(isRebased ? { isRebased: true as const } : {}),
  ...(day === today ? { isLive: true as const } : {})
})

export const portfolioPerformanceView = (performance: PortfolioPerformance) => ({
  portfolioId: performance.portfolioId,
  strategyId: performance.strategyId,
  meta: metaView(performance.asOf),
  points: performance.points.map((point) => portfolioPointView(point, performance.today)),
  ...(performance.windows === null ? {} : { summary: summaryView(performance.windows) })
})
