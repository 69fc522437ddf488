/** Curves, and that of a portfolio, as they are sent. Source: shapes 2.25, interface "Number formats". */
import { DateTime } from "effect"
import * as Day from "#domain/values/Day.ts"
import * as Decimal from "#domain/values/Decimal.ts"
import { indexOne } from "#domain/performance/CurvePoint.ts"
import { changeOf, formatPercent } from "#domain/performance/percent.ts"
import type { PerformanceWindow } from "#domain/performance/PerformanceWindow.ts"
import type { PortfolioPerformance } from "#domain/performance/PortfolioPerformances.ts"
import type { PortfolioPoint } from "#domain/performance/portfolioCurve.ts"

export const metaView = (asOf: DateTime.Utc) => ({
  method: "TWR" as const,
  currency: "USD" as const,
  resolution: "1d" as const,
  asOf: DateTime.formatIso(asOf)
})

export const percentOf = (index: bigint): string => formatPercent(changeOf(indexOne, index))

export const summaryView = (windows: ReadonlyArray<PerformanceWindow>) => ({
  windows: windows.map(({ percentChange, since, window }) => ({
    window,
    percentChange: formatPercent(percentChange),
    since
  }))
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
