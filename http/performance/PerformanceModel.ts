/** Performance curves on the wire, and that of a portfolio. Source: shapes 2.25, interface "Number formats". */
import { Schema } from "effect"
import { WindowName } from "#domain/performance/PerformanceWindow.ts"
import { PortfolioIdText, StrategyIdText, timestamp, usd, written } from "#http/values/values.ts"

export const day = (description: string, example: string) =>
  written(
    `${description}, \`YYYY-MM-DD\`, in UTC.`,
    { pattern: /^[0-9]{4}-[0-9]{2}-[0-9]{2}$/u, format: "date" },
    example
  )

export const percent = (description: string) =>
  written(`${description}, in percent, signed, with 4 decimals.`, /^-?[0-9]+\.[0-9]{4}$/u, "2.4150")

const Window = Schema.Struct({
  window: WindowName.annotate({
    description: "The period of the change; months are calendar months.",
    examples: ["1m"]
  }),
  percentChange: percent("Change since then"),
  since: day("The day from which the change is counted", "2026-02-02")
}).annotate({ identifier: "PerformanceWindow", description: "How a curve changed over one lookback." })

export const Summary = Schema.Struct({
  windows: Schema.Array(Window).annotate({
    description:
      "Shortest first; a window that begins before the first point, or before the return was last counted anew, is left out. Empty when the last point is more than two days old."
  })
}).annotate({ identifier: "PerformanceSummary", description: "The curve in a few numbers." })

/** What is said is said of the field: said of the schema, it would be another schema of the same name. */
export const summary = Schema.optionalKey(Summary).pipe(
  Schema.annotateKey({ description: "Absent with fewer than two points." })
)

export const Meta = Schema.Struct({
  method: Schema.Literal("TWR").annotate({
    description: "Time-weighted return: deposits and withdrawals do not change it.",
    examples: ["TWR"]
  }),
  currency: Schema.Literal("USD").annotate({ description: "The currency of all values.", examples: ["USD"] }),
  resolution: Schema.Literal("1d").annotate({
    description: "Resolution of the curve: at most one point a UTC day.",
    examples: ["1d"]
  }),
  asOf: timestamp("Time at which the curve was computed")
}).annotate({ identifier: "PerformanceMeta", description: "How the curve was computed." })

const PortfolioPoint = Schema.Struct({
  date: day("The day", "2026-03-02"),
  percentChange: Schema.NullOr(percent("Change since the first day with value")).annotate({
    description:
      "Change since the first day with value, or since the last day with `isRebased`, in percent, signed, with 4 decimals; null on a day on which the portfolio held nothing of value.",
    examples: ["2.4150"]
  }),
  valueUsd: usd("Value at the end of the day; on the open day, at the last valuation"),
  cashFlowUsd: written(
    "What was deposited (above zero) or withdrawn (below zero) on the day. Signed US dollars with 6 decimals, 0.000000 when nothing was.",
    /^-?[0-9]+\.[0-9]{6}$/u,
    "-250.000000"
  ),
  isRebased: Schema.optionalKey(Schema.Literal(true)).annotate({
    description:
      "True on a day from which the change is counted anew, because it is not known what became of the value before: percentages before it do not compare with those from it on. Absent on all others.",
    examples: [true]
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
    examples: [
      [
        { date: "2026-02-02", percentChange: "0.0000", valueUsd: "1000.000000", cashFlowUsd: "1000.000000" },
        {
          date: "2026-03-02",
          percentChange: "2.4150",
          valueUsd: "1024.150000",
          cashFlowUsd: "0.000000",
          isLive: true
        }
      ]
    ],
    description: "Oldest first, up to 12 months, from the first time the portfolio was valued."
  }),
  summary
}).annotate({ identifier: "PortfolioPerformance", description: "How a portfolio has performed." })
