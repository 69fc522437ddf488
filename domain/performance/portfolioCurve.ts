import type * as Day from "#domain/Day.ts"
import * as Decimal from "#domain/Decimal.ts"
import { type CurvePoint, indexOne } from "#domain/performance/CurvePoint.ts"
import type { DayValuation } from "#domain/performance/Valuation.ts"

/** A day of a portfolio. */
export interface PortfolioPoint {
  readonly day: Day.Day
  /** Null on a day on which the portfolio held nothing of value. */
  readonly index: bigint | null
  readonly valueUsd: bigint
  readonly cashFlowUsd: bigint
}

/**
 * Links the growth of the days to a time-weighted return, which cash flows do not touch. The first day with value is one;
 * what it grew between its own looks counts already. Source: shapes 2.25.
 */
export const portfolioCurve = (days: ReadonlyArray<DayValuation>): ReadonlyArray<PortfolioPoint> => {
  let index: bigint = indexOne
  return days.map(({ cashFlowUsd, day, growth, valueUsd }) => {
    if (growth !== null) index = (index * growth) / Decimal.one
    return { day, valueUsd, cashFlowUsd, index: growth === null && valueUsd === 0n ? null : index }
  })
}

/** The points that have a return. */
export const returnsOf = (points: ReadonlyArray<PortfolioPoint>): ReadonlyArray<CurvePoint> =>
  points.flatMap(({ day, index }) => (index === null ? [] : [{ day, index }]))
