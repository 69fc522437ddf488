import * as Day from "#domain/Day.ts"
import type { CurvePoint } from "#domain/performance/CurvePoint.ts"
import type { PerformanceWindow, WindowName } from "#domain/performance/PerformanceWindow.ts"
import { changeOf } from "#domain/performance/percent.ts"

/** From the last point's day to the day that the window looks back to. */
const lookbacks: ReadonlyArray<readonly [WindowName, (last: Day.Day) => Day.Day]> = [
  ["1d", (last) => Day.add(last, -1)],
  ["1w", (last) => Day.add(last, -7)],
  ["1m", (last) => Day.monthsBefore(last, 1)],
  ["3m", (last) => Day.monthsBefore(last, 3)],
  ["6m", (last) => Day.monthsBefore(last, 6)],
  ["12m", (last) => Day.monthsBefore(last, 12)]
]

/**
 * The windows of a curve, points in the order of their days: from the last point at or before the lookback to the end. A
 * window that looks back before the first point is left out. Source: interface "Discovery strategy item".
 */
export const windowsOf = (points: ReadonlyArray<CurvePoint>): ReadonlyArray<PerformanceWindow> => {
  const last = points.at(-1)
  if (last === undefined) return []
  return lookbacks.flatMap(([window, lookback]) => {
    const since = lookback(last.day)
    const base = points.findLast(({ day }) => day <= since)
    return base === undefined || base.index === 0n
      ? []
      : [{ window, percentChange: changeOf(base.index, last.index), since: Day.format(base.day) }]
  })
}
