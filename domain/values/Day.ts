/**
 * UTC days as whole days since 1970-01-01: what prices and values are kept by, and what the wire writes as
 * `YYYY-MM-DD`.
 */
import { DateTime, Option, Schema } from "effect"

export const Day = Schema.Int.pipe(Schema.brand("Day"))
export type Day = typeof Day.Type

const millis = 86_400_000

/** The day that a moment is in. */
export const of = (at: DateTime.Utc): Day => Math.floor(at.epochMilliseconds / millis) as Day

/** The moment at which a day begins. */
export const start = (day: Day): DateTime.Utc => DateTime.makeUnsafe(day * millis)

export const add = (day: Day, days: number): Day => (day + days) as Day

/** Finds the day with this number in an earlier month; its last day where that month is shorter. */
export const monthsBefore = (day: Day, months: number): Day => of(DateTime.subtract(start(day), { months }))

/** Writes `YYYY-MM-DD`. */
export const format = (day: Day): string => DateTime.formatIsoDateUtc(start(day))

/** How the wire writes a day. */
export const shape = /^[0-9]{4}-[0-9]{2}-[0-9]{2}$/u

/** Reads `YYYY-MM-DD`; undefined for anything else, a thirtieth of February included. */
export const parse = (text: string): Day | undefined => {
  if (!shape.test(text)) return undefined
  const day = Option.map(DateTime.make(`${text}T00:00:00Z`), (at) => of(DateTime.toUtc(at)))
  return Option.getOrUndefined(Option.filter(day, (one) => format(one) === text))
}
