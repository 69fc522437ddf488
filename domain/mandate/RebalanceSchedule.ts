/**
 * How often a strategy's portfolios are rebalanced. The interval is a fixed number of milliseconds, so due times form
 * a grid that does not depend on calendars or time zones. Source: interface "Strategy", shapes 2.4 and 2.8.
 */
import { DateTime, Schema } from "effect"

export const Frequency = Schema.Literals(["hourly", "daily", "weekly", "monthly"])
export type Frequency = typeof Frequency.Type

export const RebalanceSchedule = Schema.Struct({
  type: Schema.Literal("interval").annotate({ description: "The only kind of schedule." }),
  frequency: Frequency.annotate({ description: "How often portfolios are rebalanced.", examples: ["daily"] })
}).annotate({
  identifier: "RebalanceSchedule",
  description: "Schedule by which the strategy's portfolios are rebalanced."
})
export type RebalanceSchedule = typeof RebalanceSchedule.Type

const hour = 3_600_000

/** Milliseconds between two due times; a month counts 30 days. */
export const intervalMs: Record<Frequency, number> = {
  hourly: hour,
  daily: 24 * hour,
  weekly: 7 * 24 * hour,
  monthly: 30 * 24 * hour
}

/**
 * The next due time after a run that was due at `dueAt` and is claimed at `now`: the first point of the grid after
 * `now`, so that any number of missed periods gives one run.
 */
export const nextDueAt = (dueAt: DateTime.Utc, now: DateTime.Utc, frequency: Frequency): DateTime.Utc => {
  const interval = intervalMs[frequency]
  const elapsed = now.epochMilliseconds - dueAt.epochMilliseconds
  const periods = Math.max(1, Math.floor(elapsed / interval) + 1)
  return DateTime.add(dueAt, { milliseconds: periods * interval })
}

/** The one with the longer interval. */
export const slowerOf = (one: Frequency, other: Frequency): Frequency =>
  intervalMs[one] >= intervalMs[other] ? one : other
