import { assert, describe, it } from "@effect/vitest"
import { DateTime } from "effect"
import * as Day from "#domain/values/Day.ts"
import { indexOne } from "#domain/performance/CurvePoint.ts"
import { changeOf, formatPercent } from "#domain/performance/percent.ts"
import { earliestDay, firstDay, windowsOf } from "#domain/performance/windowsOf.ts"

const dayOf = (text: string) => Day.of(DateTime.makeUnsafe(`${text}T00:00:00Z`))

/** A point a day up to `last`, whose index grows by a thousandth of one each day. */
const curve = (last: string, length: number) =>
  Array.from({ length }, (_, n) => ({
    day: Day.add(dayOf(last), n - length + 1),
    index: indexOne + (BigInt(n) * indexOne) / 1000n
  }))

/** Seen on the day of the last point, or later. */
const shown = (points: Parameters<typeof windowsOf>[0], daysLater = 0) =>
  windowsOf(points, Day.add(points.at(-1)?.day ?? dayOf("2026-03-15"), daysLater)).map(
    ({ percentChange, since, window }) => [window, formatPercent(percentChange), since]
  )

describe("windowsOf", () => {
  it("shortest first, months by the calendar, each from the day it reaches back to", () => {
    assert.deepStrictEqual(shown(curve("2026-03-31", 366)), [
      ["1d", "0.0733", "2026-03-30"],
      ["1w", "0.5155", "2026-03-24"],
      ["1m", "2.3238", "2026-02-28"],
      ["3m", "7.0588", "2025-12-31"],
      ["6m", "15.3846", "2025-09-30"],
      ["12m", "36.5000", "2025-03-31"]
    ])
  })

  it("leaves out windows that reach back before the first point", () => {
    const names = (length: number) => shown(curve("2026-03-15", length)).map(([window]) => window)
    assert.deepStrictEqual(names(365), ["1d", "1w", "1m", "3m", "6m"])
    assert.deepStrictEqual(names(29), ["1d", "1w", "1m"])
    assert.deepStrictEqual(names(28), ["1d", "1w"])
    assert.deepStrictEqual(names(2), ["1d"])
    assert.deepStrictEqual(names(1), [])
    assert.deepStrictEqual(names(0), [])
  })

  it("counts from the last point before a gap, and says so", () => {
    const points = curve("2026-03-15", 20).filter(
      ({ day }) => day !== dayOf("2026-03-14") && day !== dayOf("2026-03-08")
    )
    assert.deepStrictEqual(
      shown(points).map(([window, , since]) => [window, since]),
      [
        ["1d", "2026-03-13"],
        ["1w", "2026-03-07"]
      ]
    )
  })

  it("says nothing of the present by a curve whose last point is more than two days old", () => {
    const points = curve("2026-03-15", 40)
    assert.lengthOf(shown(points, 1), 3)
    assert.deepStrictEqual(shown(points, 2), shown(points))
    assert.deepStrictEqual(shown(points, 3), [])
  })

  it("the longest window is there before the point of the day is, at most two days long", () => {
    const today = dayOf("2026-03-15")
    const prices = curve("2026-03-15", 400).filter(({ day }) => day >= earliestDay(today))
    for (const missing of [0, 1, 2]) {
      const last = Day.add(today, -missing)
      const points = prices.filter(({ day }) => day <= last && day >= firstDay(today, last))
      const longest = windowsOf(points, today).at(-1)
      assert.deepStrictEqual([longest?.window, longest?.since], ["12m", Day.format(Day.monthsBefore(last, 12))])
      assert.strictEqual(points[0]!.day, Day.monthsBefore(last, 12))
    }
    for (const last of [undefined, Day.add(today, -3)])
      assert.strictEqual(firstDay(today, last), Day.monthsBefore(today, 12))
  })

  it("says nothing about a growth from nothing", () =>
    assert.deepStrictEqual(
      shown([
        { day: dayOf("2026-03-01"), index: 0n },
        { day: dayOf("2026-03-02"), index: 0n }
      ]),
      []
    ))
})

describe("percent", () => {
  it.each([
    [3n, 4n, "33.3333"],
    [3n, 5n, "66.6667"],
    [3n, 2n, "-33.3333"],
    [3n, 1n, "-66.6667"],
    [1_000_000n, 1_000_001n, "0.0001"],
    [10_000_000n, 10_000_005n, "0.0001"],
    [10_000_000n, 9_999_995n, "-0.0001"],
    [10_000_000n, 9_999_996n, "0.0000"],
    [1n, 0n, "-100.0000"],
    [1n, 12n, "1100.0000"]
  ])("from %s to %s is %s percent", (from, to, percent) =>
    assert.strictEqual(formatPercent(changeOf(from, to)), percent)
  )

  it("a tenth that was reached in many rounded steps is still a tenth", () => {
    const almost = (indexOne * 11n) / 10n - 400n
    assert.strictEqual(formatPercent(changeOf(indexOne, almost)), "10.0000")
  })
})
