/** Backtests on the wire: an extension of the interface. Source: docs/decisions/0145-backtests.md. */
import { Schema } from "effect"
import { limits } from "#domain/backtest/Backtest.ts"
import * as Day from "#domain/values/Day.ts"
import * as Decimal from "#domain/values/Decimal.ts"
import { fromText } from "#domain/values/fromText.ts"
import { RebalancePolicy } from "#domain/mandate/RebalancePolicy.ts"
import { AllocationDraft } from "#http/v2/strategy/AllocationModel.ts"
import { RebalanceSchedule } from "#domain/mandate/RebalanceSchedule.ts"
import { usd, written } from "#http/values/values.ts"

const bps = (maximum: number, description: string) =>
  Schema.Int.check(
    Schema.isBetween({ minimum: 0, maximum }, { expected: `a whole number from 0 to ${maximum}` })
  ).annotate({ description: `${description}, in basis points (0 to ${maximum}).`, examples: [30] })

const dayFrom = (what: string, example: string) =>
  fromText(Day.Day, {
    expected: `a day of the form YYYY-MM-DD, in UTC: ${what}`,
    pattern: Day.shape,
    example,
    parse: Day.parse,
    format: (day) => Day.format(day as Day.Day)
  })

const amountShape = /^[0-9]{1,12}(\.[0-9]{1,6})?$/u

interface AmountRange {
  readonly min: bigint
  readonly max: bigint
  readonly example: string
}

/** US dollars (wad). */
const amountFrom = (what: string, { example, min, max }: AmountRange) =>
  fromText(Schema.BigInt, {
    expected: `${Decimal.format(min, 2)} to ${Decimal.format(max, 2)} US dollars, a decimal string with at most 6 decimal places: ${what}`,
    pattern: amountShape,
    example,
    parse: (text) => {
      const value = amountShape.test(text) ? Decimal.parse(text) : undefined
      return value !== undefined && value >= min && value <= max ? value : undefined
    },
    format: (value) => Decimal.formatUsd(value)
  })

export const BacktestDraft = Schema.Struct({
  allocation: AllocationDraft,
  schedule: RebalanceSchedule,
  rebalancePolicy: Schema.optionalKey(RebalancePolicy),
  from: dayFrom(
    `the first, 1 to ${limits.maxDays} days before the last; all assets need a recorded price of it`,
    "2025-03-03"
  ),
  to: dayFrom("the last, not after today", "2025-06-01"),
  valueUsd: Schema.optionalKey(
    amountFrom("what the portfolio is worth at first, 10000 when left out", {
      min: limits.minUsd,
      max: limits.maxUsd,
      example: "10000.00"
    })
  ),
  thresholdUsd: Schema.optionalKey(
    amountFrom("trades below it are not made; the service's default when left out", {
      min: 0n,
      max: limits.maxUsd,
      example: "5.00"
    })
  ),
  slippageBps: Schema.optionalKey(
    bps(1_000, "The slippage limit, a tenth of which the cost gate sets aside; the service's default when left out")
  ),
  feeBps: Schema.optionalKey(bps(limits.maxFeeBps, "Cost of a swap; 30 when left out")),
  gasUsd: Schema.optionalKey(
    amountFrom("gas of a swap, 0.10 when left out", { min: 0n, max: limits.maxGasUsd, example: "0.10" })
  )
}).annotate({
  identifier: "BacktestDraft",
  description: "A backtest to run. Without `rebalancePolicy` it rebalances to the exact target."
})

const day = (description: string, example: string) =>
  written(
    `${description}, \`YYYY-MM-DD\`, in UTC.`,
    { pattern: /^[0-9]{4}-[0-9]{2}-[0-9]{2}$/u, format: "date" },
    example
  )

const decimals4 = /^[0-9]+\.[0-9]{4}$/u

const Point = Schema.Struct({
  date: day("The day whose prices count", "2025-06-01"),
  valueUsd: usd("What the portfolio was worth, before trades of that day")
}).annotate({ identifier: "BacktestPoint", description: "One day of a backtest." })

const Course = Schema.Struct({
  endValueUsd: usd("What the portfolio was worth on the last day", "10412.120000"),
  percentChange: written(
    "Change over all days, costs paid, in percent, signed, with 4 decimals.",
    /^-?[0-9]+\.[0-9]{4}$/u,
    "4.1212"
  ),
  costUsd: usd("Fees and gas of all trades", "3.410000"),
  costBps: written(
    "Shares of the portfolio at each trade, in basis points of it, with 2 decimals.",
    /^[0-9]+\.[0-9]{2}$/u,
    "3.32"
  ),
  turnover: written("What was sold, in multiples of the portfolio, with 4 decimals.", decimals4, "0.1021"),
  trackingError: written(
    "Root mean square deviation of a weight from its target, in percent of the portfolio, with 4 decimals.",
    decimals4,
    "0.8120"
  ),
  trades: Schema.Int.annotate({ description: "Number of swaps.", examples: [14] }),
  points: Schema.Array(Point).annotate({
    description: "Oldest first; a day without the price of an asset has no point.",
    examples: [[{ date: "2025-06-01", valueUsd: "10412.120000" }]]
  })
})

/** What one way of rebalancing would have done, under a name of its own in the document. */
const courseNamed = (identifier: string, description: string) => Course.annotate({ identifier, description })

export const Backtest = Schema.Struct({
  from: day("First day", "2025-03-03"),
  to: day("Last requested day", "2025-06-01"),
  feeBps: Schema.Int.annotate({ description: "Assumed cost of a swap, basis points.", examples: [30] }),
  gasUsd: usd("Gas of a swap that was reckoned with", "0.100000"),
  thresholdUsd: usd("Minimum trade that was reckoned with", "5.000000"),
  strategy: courseNamed("BacktestOfStrategy", "Course by the schedule and the policy of the request."),
  exactTarget: courseNamed(
    "BacktestOfExactTarget",
    "Course on the same schedule with every deviation of the threshold traded to its target."
  ),
  buyAndHold: courseNamed("BacktestOfBuyAndHold", "Bought on the first day, and nothing traded.")
}).annotate({
  identifier: "Backtest",
  description: "What a policy would have done, beside what is done without one."
})
