import * as Day from "#domain/values/Day.ts"
import type { CurvePoint } from "#domain/performance/CurvePoint.ts"
import type { PerformanceWindow, WindowName } from "#domain/performance/PerformanceWindow.ts"
import { changeOf } from "#domain/performance/percent.ts"

/** The longest lookback. */
const longestMonths = 12

/** Windows, each with its first day, computed from the last point's day. */
const lookbacks: ReadonlyArray<readonly [WindowName, (last: Day.Day) => Day.Day]> = [
  ["1d", (last) => Day.add(last, -1)],
  ["1w", (last) => Day.add(last, -7)],
  ["1m", (last) => Day.monthsBefore(last, 1)],
  ["3m", (last) => Day.monthsBefore(last, 3)],
  ["6m", (last) => Day.monthsBefore(last, 6)],
  ["12m", (last) => Day.monthsBefore(last, longestMonths)]
]

/** A curve whose last point is older is too old for the present. */
const maxDaysOld = 2

/** The first day that any curve that ends about now may need a point of. */
export const earliestDay = (today: Day.Day): Day.Day => Day.monthsBefore(Day.add(today, -maxDaysOld), longestMonths)

/**
 * The first day of a curve, by the day of its last point: twelve months before that one, so that the longest window is
 * there whether or not the point of today is yet. A curve that ended long ago is shown from twelve months before today
 * on.
 */
export const firstDay = (today: Day.Day, last: Day.Day | undefined): Day.Day =>
  last === undefined || today - last > maxDaysOld
    ? Day.monthsBefore(today, longestMonths)
    : Day.monthsBefore(last, longestMonths)

/**
 * The windows of a curve, points in the order of their days: from the last point at or before the lookback to the end.
 * A window that begins before the first point is left out, and all are when the last point is more than two days
 * old. Source: interface "Discovery strategy item".
 */
export const windowsOf = (points: ReadonlyArray<CurvePoint>, today: Day.Day): ReadonlyArray<PerformanceWindow> => {
  const last = points.at(-1)
  if (last === undefined || today - last.day > maxDaysOld) return []
  return lookbacks.flatMap(([window, lookback]) => {
    const since = lookback(last.day)
    const base = points.findLast(({ day }) => day <= since)
    return base === undefined || base.index === 0n
      ? []
      : [{ window, percentChange: changeOf(base.index, last.index), since: Day.format(base.day) }]
  })
}
