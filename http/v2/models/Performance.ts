/** Performance curves on the wire. Source: shapes 2.11 and 2.25, interface "Number formats". */
import { Schema } from "effect"
import { WindowName } from "#domain/performance/PerformanceWindow.ts"
import { Strategy } from "#http/v2/models/Strategy.ts"
import { PortfolioIdText, StrategyIdText, timestamp, usd } from "#http/v2/models/values.ts"

const day = (description: string, example: string) =>
  Schema.String.annotate({ description: `${description}, \`YYYY-MM-DD\`, in UTC.`, examples: [example] })

const percent = (description: string) =>
  Schema.String.annotate({ description: `${description}, in percent, signed, with 4 decimals.`, examples: ["2.4150"] })

const Window = Schema.Struct({
  window: WindowName.annotate({
    description: "How far the change looks back; months are calendar months.",
    examples: ["1m"]
  }),
  percentChange: percent("Change since then"),
  since: day("The day from which the change is counted", "2026-02-02")
}).annotate({ identifier: "PerformanceWindow", description: "How a curve changed over one lookback." })

export const Summary = Schema.Struct({
  windows: Schema.Array(Window).annotate({
    description: "Shortest first; a window that looks back before the first point is left out."
  })
}).annotate({ identifier: "PerformanceSummary", description: "The curve in a few numbers." })

const summary = Schema.optionalKey(Summary).annotate({ description: "Absent with fewer than two points." })

const Meta = Schema.Struct({
  method: Schema.Literal("TWR").annotate({
    description: "Time-weighted return: cash flows do not touch it.",
    examples: ["TWR"]
  }),
  currency: Schema.Literal("USD").annotate({ description: "What is counted in.", examples: ["USD"] }),
  resolution: Schema.Literal("1d").annotate({ description: "At most one point a UTC day.", examples: ["1d"] }),
  asOf: timestamp("When the curve was computed")
}).annotate({ identifier: "PerformanceMeta", description: "How the curve was computed." })

const StrategyPoint = Schema.Struct({
  date: day("The day at whose beginning the prices were taken", "2026-03-02"),
  percentChange: percent("Change since the first point, which is 0.0000")
}).annotate({ identifier: "StrategyPerformancePoint", description: "One day of a strategy's curve." })

export const StrategyPerformance = Schema.Struct({
  strategyId: StrategyIdText,
  schedule: Strategy.fields.schedule,
  meta: Meta,
  points: Schema.Array(StrategyPoint).annotate({
    description:
      "Oldest first, up to 12 months, as far back as all assets have prices. A day without the price of an asset has no point; empty until there are prices."
  }),
  summary
}).annotate({
  identifier: "StrategyPerformance",
  description: "What the strategy's target weights would have become, rebalanced on its schedule, before fees."
})

const PortfolioPoint = Schema.Struct({
  date: day("The day", "2026-03-02"),
  percentChange: Schema.NullOr(percent("Change since the first day with value")).annotate({
    description:
      "Change since the first day with value, in percent, signed, with 4 decimals; null on a day on which the portfolio held nothing of value.",
    examples: ["2.4150"]
  }),
  valueUsd: usd("Value at the end of the day; on the open day, at the last look"),
  cashFlowUsd: Schema.String.annotate({
    description:
      "What was deposited (above zero) or withdrawn (below zero) on the day. Signed US dollars with 6 decimals, 0.000000 when nothing was.",
    examples: ["-250.000000"]
  }),
  isLive: Schema.optionalKey(Schema.Literal(true)).annotate({
    description: "True on the open day, whose numbers still change; absent on all others.",
    examples: [true]
  })
}).annotate({ identifier: "PortfolioPerformancePoint", description: "One day of a portfolio." })

export const PortfolioPerformance = Schema.Struct({
  portfolioId: PortfolioIdText,
  strategyId: StrategyIdText,
  meta: Meta,
  points: Schema.Array(PortfolioPoint).annotate({
    description: "Oldest first, up to 12 months, from the first time the portfolio was valued."
  }),
  summary
}).annotate({ identifier: "PortfolioPerformance", description: "How a portfolio has performed." })
