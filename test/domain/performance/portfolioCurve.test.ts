import { assert, describe, it } from "@effect/vitest"
import type { Day } from "#domain/Day.ts"
import * as Decimal from "#domain/Decimal.ts"
import { indexOne } from "#domain/performance/CurvePoint.ts"
import { changeOf, formatPercent } from "#domain/performance/percent.ts"
import { portfolioCurve, returnsOf } from "#domain/performance/portfolioCurve.ts"

/** Days of value and growth, both in hundredths. */
const days = (...rows: ReadonlyArray<readonly [value: number, growth: number | null]>) =>
  rows.map(([value, growth], day) => ({
    day: day as Day,
    valueUsd: (BigInt(value) * Decimal.one) / 100n,
    cashFlowUsd: 0n,
    growth: growth === null ? null : (BigInt(growth) * Decimal.one) / 100n
  }))

const shown = (rows: ReturnType<typeof days>) =>
  portfolioCurve(rows).map(({ index }) => (index === null ? null : formatPercent(changeOf(indexOne, index))))

describe("portfolioCurve", () => {
  it("links the days, from the first with value", () =>
    assert.deepStrictEqual(shown(days([0, null], [10, null], [11, 110], [5, 50], [5, 100])), [
      null,
      "0.0000",
      "10.0000",
      "-45.0000",
      "-45.0000"
    ]))

  it("counts what the first day grew between its own looks", () =>
    assert.deepStrictEqual(shown(days([10, 102], [10, 100])), ["2.0000", "2.0000"]))

  it("says nothing while nothing is held, and goes on when there is something again", () =>
    assert.deepStrictEqual(shown(days([10, 120], [0, 150], [0, null], [7, null], [7, 200])), [
      "20.0000",
      "80.0000",
      null,
      "80.0000",
      "260.0000"
    ]))

  it("a total loss stays one", () =>
    assert.deepStrictEqual(shown(days([10, null], [0, 0], [10, null], [10, 150])), [
      "0.0000",
      "-100.0000",
      "-100.0000",
      "-100.0000"
    ]))

  it("returns are the points with one", () => {
    const points = portfolioCurve(days([0, null], [10, null], [11, 110]))
    assert.deepStrictEqual(
      returnsOf(points).map(({ day }) => day as number),
      [1, 2]
    )
  })
})
