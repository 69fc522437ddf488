import { assert, describe, it } from "@effect/vitest"
import type { Day } from "#domain/values/Day.ts"
import * as Decimal from "#domain/values/Decimal.ts"
import { indexOne } from "#domain/performance/CurvePoint.ts"
import { changeOf, formatPercent } from "#domain/performance/percent.ts"
import { portfolioCurve, returnsOf } from "#domain/performance/portfolioCurve.ts"

/** Days of value and growth, both in hundredths; `anew` where the return is counted anew. */
const days = (...rows: ReadonlyArray<readonly [value: number, growth: number | null, anew?: "anew"]>) =>
  rows.map(([value, growth, anew], day) => ({
    day: day as Day,
    valueUsd: (BigInt(value) * Decimal.one) / 100n,
    cashFlowUsd: 0n,
    growth: growth === null ? null : (BigInt(growth) * Decimal.one) / 100n,
    isRebased: anew !== undefined
  }))

const shown = (rows: ReturnType<typeof days>) =>
  portfolioCurve(rows).map(({ index }) => (index === null ? null : formatPercent(changeOf(indexOne, index))))

const anew = (rows: ReturnType<typeof days>) =>
  portfolioCurve(rows).flatMap(({ day, isRebased }) => (isRebased ? [day as number] : []))

describe("portfolioCurve", () => {
  it("links the days, from the first with value", () =>
    assert.deepStrictEqual(shown(days([0, null], [10, null], [11, 110], [5, 50], [5, 100])), [
      null,
      "0.0000",
      "10.0000",
      "-45.0000",
      "-45.0000"
    ]))

  it("counts what the first day grew between its own valuations", () =>
    assert.deepStrictEqual(shown(days([10, 102], [10, 100])), ["2.0000", "2.0000"]))

  it("says nothing while nothing is held, and goes on when there is something again", () =>
    assert.deepStrictEqual(shown(days([10, 120], [0, 150], [0, null], [7, null], [7, 200])), [
      "20.0000",
      "80.0000",
      null,
      "80.0000",
      "260.0000"
    ]))

  it("after a total loss new money begins anew, and says so", () => {
    const rows = days([10, null], [0, 0], [10, null], [10, 150])
    assert.deepStrictEqual(shown(rows), ["0.0000", "-100.0000", "0.0000", "50.0000"])
    assert.deepStrictEqual(anew(rows), [2])
  })

  it("a growth that cannot be determined is not linked: the day counts from then on, and says so", () => {
    const rows = days([10, 120], [20, 103, "anew"], [20, 200], [30, null, "anew"], [30, 110])
    assert.deepStrictEqual(shown(rows), ["20.0000", "3.0000", "106.0000", "0.0000", "10.0000"])
    assert.deepStrictEqual(anew(rows), [1, 3])
  })

  it("is never zero while there is value, whatever was stored", () => {
    const rows = days([10, 120], [20, 0], [20, 110])
    assert.deepStrictEqual(shown(rows), ["20.0000", "0.0000", "10.0000"])
    assert.deepStrictEqual(anew(rows), [1])
  })

  it("returns are the points with one, since the return was last counted anew", () => {
    const later = portfolioCurve(days([10, 120], [20, null, "anew"], [0, null], [20, 110]))
    assert.deepStrictEqual(
      returnsOf(later).map(({ day }) => day as number),
      [1, 3]
    )
    const points = portfolioCurve(days([0, null], [10, null], [11, 110]))
    assert.deepStrictEqual(
      returnsOf(points).map(({ day }) => day as number),
      [1, 2]
    )
  })
})
