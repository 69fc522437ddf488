/**
 * Changes between the closes of candles: whole ones alone, and nothing where one is missing or the market is closed.
 */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import * as Decimal from "#domain/values/Decimal.ts"
import { candleChange, maxWindowHours, spanFor } from "#domain/monitor/CandleChanges.ts"
import "#test/support/suite/properties.ts"

const hour = 3_600_000
const half = hour / 2
const start = 1_767_225_600_000

/** Candles of half an hour; the n-th closes at n + 1 dollars. */
const series = (count: number, length = half) =>
  Array.from({ length: count }, (_, n) => ({
    timestamp: start + n * length,
    open: `${n}.5`,
    high: `${n + 2}`,
    low: `${n}`,
    close: `${n + 1}`,
    volume: null
  }))

const usd = (dollars: number) => BigInt(dollars) * Decimal.one

describe("changes of candles", () => {
  it("are from close to close of whole candles, the one under way apart", () => {
    // 48 candles; at its middle the last one is not whole, so the 47th is the last.
    const now = start + 47 * half + half / 2
    assert.deepStrictEqual(candleChange(series(48), 4, now), { before: usd(39), now: usd(47) })
    assert.deepStrictEqual(candleChange(series(48), 4, start + 48 * half), { before: usd(40), now: usd(48) })
    assert.deepStrictEqual(candleChange(series(48).toReversed(), 4, now), { before: usd(39), now: usd(47) })
  })

  it("are unknown without a candle at the window's beginning, after a market closed, and of less than two", () => {
    const now = start + 48 * half
    assert.isUndefined(candleChange(series(48), 24, now), "reaches back no further")
    assert.isUndefined(candleChange(series(48), 4, now + 4 * half), "closed for longer than three candles")
    assert.isDefined(candleChange(series(48), 4, now + 3 * half))
    const gap = series(48).filter((_, n) => n !== 39)
    assert.isUndefined(candleChange(gap, 4, now), "the candle of the beginning is missing")
    assert.isUndefined(candleChange(series(1), 1, now))
    assert.isUndefined(candleChange([], 1, now))
    const free = series(48).map((candle) => ({ ...candle, close: "0" }))
    assert.isUndefined(candleChange(free, 4, now), "from nothing there is no change")
  })

  it("agree with the arithmetic of every window and time that the series holds", () =>
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 23 }), fc.integer({ min: 0, max: half - 1 }), (hours, into) => {
        const found = candleChange(series(48), hours, start + 48 * half + into)
        assert.deepStrictEqual(found, { before: usd(48 - 2 * hours), now: usd(48) })
      })
    ))

  it("are measured on the finer series as long as it reaches, and for every window that a trigger may have", () => {
    assert.deepStrictEqual([1, 12, 13, maxWindowHours].map(spanFor), ["day", "day", "month", "month"])
    const fourHours = series(180, 4 * hour)
    assert.isDefined(candleChange(fourHours, maxWindowHours, start + 180 * 4 * hour))
  })
})
