/** The curve of a strategy on the wire. Source: shapes 2.11. */
import { Schema } from "effect"
import { day, Meta, percent, summary } from "#http/performance/PerformanceModel.ts"
import { Strategy } from "#http/v2/strategy/StrategyModel.ts"
import { StrategyIdText } from "#http/values/values.ts"

const StrategyPoint = Schema.Struct({
  date: day("The day at whose beginning the prices were taken", "2026-03-02"),
  percentChange: percent("Change since the first point, which is 0.0000")
}).annotate({ identifier: "StrategyPerformancePoint", description: "One day of a strategy's curve." })

export const StrategyPerformance = Schema.Struct({
  strategyId: StrategyIdText,
  schedule: Strategy.fields.schedule,
  meta: Meta,
  points: Schema.Array(StrategyPoint).annotate({
    examples: [
      [
        { date: "2026-02-02", percentChange: "0.0000" },
        { date: "2026-03-02", percentChange: "2.4150" }
      ]
    ],
    description:
      "Oldest first, up to 12 months, as far back as all assets have prices. A day without the price of an asset has no point; empty until there are prices."
  }),
  summary
}).annotate({
  identifier: "StrategyPerformance",
  description: "What the strategy's target weights would have become, rebalanced on its schedule, before fees."
})
