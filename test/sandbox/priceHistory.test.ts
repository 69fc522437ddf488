import { assert, describe, it } from "vitest"
import * as Decimal from "#domain/values/Decimal.ts"
import { catalog } from "#sandbox/assets/catalog.ts"
import { chartTimes, jsonNumber, priceHistory } from "#sandbox/market/priceHistory.ts"

const dayMs = 86_400_000
const beginning = Date.UTC(2026, 2, 10, 15, 30)
const [onBase, onArbitrum] = [catalog[0]!, catalog[1]!]
const atStart = [{ at: 0, priceUsd: 2500n * Decimal.one }]

const history = (token = onBase.weth, now = beginning, points = atStart) =>
  priceHistory({ token, points, times: chartTimes(now, 365, true), beginning })

describe("priceHistory", () => {
  it("has a price for the beginning of each day and for the moment, which is the book's", () => {
    const points = history()
    assert.lengthOf(points, 366)
    assert.strictEqual(points[0]!.at, Date.UTC(2025, 2, 11))
    assert.strictEqual(points.at(-2)!.at, Date.UTC(2026, 2, 10))
    assert.deepStrictEqual(points.at(-1), { at: beginning, priceUsd: 2500n * Decimal.one })
  })

  it("walks in small steps, away from where it ends", () => {
    const prices = history().map(({ priceUsd }) => priceUsd)
    for (const [index, price] of prices.slice(1).entries()) {
      const step = (price * 10_000n) / prices[index]!
      assert.isTrue(step >= 9_690n && step <= 10_310n, `${step}`)
    }
    assert.isAbove(new Set(prices).size, 300)
  })

  it("a stablecoin stays within fifteen hundredths of a percent", () => {
    const prices = history(onBase.usdc, beginning, [{ at: 0, priceUsd: Decimal.one }])
    for (const { priceUsd } of prices) {
      assert.isTrue(priceUsd >= (Decimal.one * 9_985n) / 10_000n && priceUsd <= (Decimal.one * 10_015n) / 10_000n)
    }
  })

  it("is the same on every asking and for one coin on all chains", () => {
    assert.deepStrictEqual(history(), history())
    assert.deepStrictEqual(history(onArbitrum.weth), history())
    assert.notDeepEqual(history(catalog[0]!.tokens[2]), history())
  })

  it("stays what it was when time goes on and prices move", () => {
    const before = new Map(history().map(({ at, priceUsd }) => [at, priceUsd]))
    const moved = [...atStart, { at: beginning + dayMs, priceUsd: 3000n * Decimal.one }]
    const later = history(onBase.weth, beginning + 3 * dayMs, moved)
    const same = later.filter(({ at }) => at < beginning)
    assert.lengthOf(same, 362)
    for (const { at, priceUsd } of same) assert.strictEqual(priceUsd, before.get(at))
    assert.deepStrictEqual(
      later.slice(-4).map(({ priceUsd }) => priceUsd / Decimal.one),
      [2500n, 3000n, 3000n, 3000n]
    )
  })
})

describe("chartTimes", () => {
  it("has CoinGecko's grain: a day, an hour up to 90 days, five minutes for one", () => {
    assert.lengthOf(chartTimes(beginning, 91, false), 92)
    assert.lengthOf(chartTimes(beginning, 90, false), 90 * 24 + 1)
    assert.lengthOf(chartTimes(beginning, 2, false), 49)
    assert.lengthOf(chartTimes(beginning, 1, false), 288 + 1)
    assert.lengthOf(chartTimes(beginning, 1, true), 2)
  })
})

describe("jsonNumber", () => {
  it("writes prices as they are", () => {
    assert.strictEqual(jsonNumber(2500n * Decimal.one), 2500)
    assert.strictEqual(jsonNumber(Decimal.one / 10_000_000n), 1e-7)
  })
})
