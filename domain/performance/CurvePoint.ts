/** A point of a performance curve. */
import type { Day } from "#domain/values/Day.ts"

export interface CurvePoint {
  readonly day: Day
  /** What one unit of the first point's worth has become, as an integer of `indexOne`. */
  readonly index: bigint
}

/**
 * One, as an index: 36 decimal places. Every step of a curve rounds down at the last of them, so a year of daily steps
 * is exact far beyond the four decimals of a percentage that are shown.
 */
export const indexOne = 10n ** 36n
