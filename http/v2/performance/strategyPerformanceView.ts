/** The curve of a strategy as v2 shows it. Source: shapes 2.11. */
import * as Day from "#domain/values/Day.ts"
import type { StrategyPerformance } from "#domain/performance/StrategyPerformances.ts"
import { metaView, percentOf, summaryView } from "#http/performance/performanceView.ts"

export const strategyPerformanceView = ({ asOf, points, schedule, strategyId, windows }: StrategyPerformance) => ({
  strategyId,
  schedule,
  meta: metaView(asOf),
  points: points.map(({ day, index }) => ({ date: Day.format(day), percentChange: percentOf(index) })),
  ...(windows === null ? {} : { summary: summaryView(windows) })
})
