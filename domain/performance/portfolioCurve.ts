import type * as Day from "#domain/values/Day.ts"
import * as Decimal from "#domain/values/Decimal.ts"
import { type CurvePoint, indexOne } from "#domain/performance/CurvePoint.ts"
import type { DayValuation } from "#domain/performance/Valuation.ts"

/** A day of a portfolio. */
export interface PortfolioPoint {
  readonly day: Day.Day
  /** Null on a day on which the portfolio held nothing of value. */
  readonly index: bigint | null
  readonly valueUsd: bigint
  readonly cashFlowUsd: bigint
  /** The index is counted anew from this day on, and is not comparable with those of the days before. */
  readonly isRebased: boolean
}

/**
 * Links the growth of the days to a time-weighted return, which cash flows do not touch. The first day with value is
 * one; what it grew between its own valuations counts already. It is one again where it is not known what became of the
 * value before, and where money comes in after all was lost. Source: shapes 2.25.
 */
export const portfolioCurve = (days: ReadonlyArray<DayValuation>): ReadonlyArray<PortfolioPoint> => {
  let index: bigint = indexOne
  return days.map(({ cashFlowUsd, day, growth, isRebased, valueUsd }) => {
    if (isRebased) index = indexOne
    if (growth !== null) index = (index * growth) / Decimal.one
    const isReborn = index === 0n && valueUsd > 0n
    if (isReborn) index = indexOne
    const isEmpty = growth === null && valueUsd === 0n
    return { day, valueUsd, cashFlowUsd, index: isEmpty ? null : index, isRebased: isRebased || isReborn }
  })
}

/** The points that have a return, since it was last counted anew. */
export const returnsOf = (points: ReadonlyArray<PortfolioPoint>): ReadonlyArray<CurvePoint> =>
  points
    .slice(
      Math.max(
        0,
        points.findLastIndex(({ isRebased }) => isRebased)
      )
    )
    .flatMap(({ day, index }) => (index === null ? [] : [{ day, index }]))
