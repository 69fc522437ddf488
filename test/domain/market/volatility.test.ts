import { assert, describe, it } from "@effect/vitest"
import type * as Day from "#domain/values/Day.ts"
import { volatility } from "#domain/market/volatility.ts"

const wad = 1e18
const series = (prices: ReadonlyArray<number>, first = 20_000) =>
  new Map(prices.map((price, at) => [(first + at) as Day.Day, BigInt(Math.round(price * 1e9)) * 1_000_000_000n]))

describe("volatility", () => {
  it("of a price that rises and falls by one percent in turn is a percent a day, over a year", () => {
    const prices = Array.from({ length: 61 }, (_, day) => (day % 2 === 0 ? 100 : 101))
    const step = Math.log(1.01)
    const expected = Math.sqrt((60 / 59) * 365) * step
    assert.closeTo(Number(volatility(series(prices))) / wad, expected, 1e-4)
  })

  it("of a price that grows evenly is nothing", () => {
    const prices = Array.from({ length: 60 }, (_, day) => 100 * 1.01 ** day)
    assert.closeTo(Number(volatility(series(prices))) / wad, 0, 1e-5)
  })

  it("is not known from too few days, nor across a gap", () => {
    assert.isUndefined(volatility(series(Array.from({ length: 20 }, () => 1))))
    const gaps = new Map([...series(Array.from({ length: 60 }, () => 1))].filter(([day]) => day % 2 === 0))
    assert.isUndefined(volatility(gaps))
  })
})
