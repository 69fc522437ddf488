/**
 * UTC days as whole days since 1970-01-01: what prices and values are kept by, and what the wire writes as `YYYY-MM-DD`.
 */
import { DateTime, Schema } from "effect"

export const Day = Schema.Int.pipe(Schema.brand("Day"))
export type Day = typeof Day.Type

const millis = 86_400_000

/** The day that a moment is in. */
export const of = (at: DateTime.Utc): Day => Math.floor(at.epochMilliseconds / millis) as Day

/** The moment at which a day begins. */
export const start = (day: Day): DateTime.Utc => DateTime.makeUnsafe(day * millis)

export const add = (day: Day, days: number): Day => (day + days) as Day

/** The same day of an earlier month; its last day where that month is shorter. */
export const monthsBefore = (day: Day, months: number): Day => of(DateTime.subtract(start(day), { months }))

/** Writes `YYYY-MM-DD`. */
export const format = (day: Day): string => DateTime.formatIsoDateUtc(start(day))
