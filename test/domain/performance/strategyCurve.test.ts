import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import type { AssetId } from "#domain/values/Caip.ts"
import type { Day } from "#domain/values/Day.ts"
import * as Decimal from "#domain/values/Decimal.ts"
import { indexOne } from "#domain/performance/CurvePoint.ts"
import { type PriceSeries, strategyCurve } from "#domain/performance/strategyCurve.ts"
import { a, b, c, halves, only, series, shown, task } from "#test/domain/performance/curves.ts"

const day = (n: number) => n as Day

describe("strategyCurve", () => {
  it("a day's return is the weighted mean of the assets' returns", () => {
    // Day 1: (+10 % + 0) / 2 = 5 %. Day 2: (0 - 10 %) / 2 = -5 %, 1.05 * 0.95 = 0.9975.
    const prices = new Map([
      [a, series(100, 110, 110)],
      [b, series(200, 200, 180)]
    ])
    assert.deepStrictEqual(shown(task(prices, 3)), [
      [0, "0.0000"],
      [1, "5.0000"],
      [2, "-0.2500"]
    ])
  })

  it("between two rebalances the weights drift with the prices", () => {
    // Bought once: half a unit's worth of each. Day 1: 1 + 0.5 = 1.5. Day 2: 2 + 0.5 = 2.5. Spread anew each day: 1.5 *
    // 1.5.
    const prices = new Map([
      [a, series(100, 200, 400)],
      [b, series(100, 100, 100)]
    ])
    assert.deepStrictEqual(shown(task(prices, 3, { everyDays: 7 })), [
      [0, "0.0000"],
      [1, "50.0000"],
      [2, "150.0000"]
    ])
    assert.deepStrictEqual(shown(task(prices, 3))[2], [2, "125.0000"])
  })

  it("the days of a weekly schedule do not depend on where the curve begins", () => {
    const prices = new Map([
      [a, series(100, 100, 200, 400, 400, 100)],
      [b, series(100, 100, 100, 100, 200, 200)]
    ])
    // Rebalanced on day 3 alone, whichever multiple of seven days the anchor is away.
    for (const anchor of [3, 10, -4]) {
      const curve = shown(task(prices, 6, { everyDays: 7, anchor: day(anchor) }))
      // Day 3: 2 + 0.5 = 2.5. Day 4: 2.5 * (0.5 + 1) = 3.75. Day 5: 2.5 * (0.125 + 1) = 2.8125.
      assert.deepStrictEqual(curve.slice(3), [
        [3, "150.0000"],
        [4, "275.0000"],
        [5, "181.2500"]
      ])
    }
  })

  it("a new version takes effect at the next rebalance, with its own weights", () => {
    const prices = new Map([
      [a, series(50, 100, 200, 400, 800)],
      [b, series(100, 100, 100, 100, 100)]
    ])
    const versions = [
      { fromDay: day(0), allocation: only(b) },
      { fromDay: day(1), allocation: only(a) }
    ]
    assert.deepStrictEqual(
      shown(task(prices, 5, { versions })).map(([, percent]) => percent),
      ["0.0000", "0.0000", "100.0000", "300.0000", "700.0000"]
    )
    assert.deepStrictEqual(
      shown(task(prices, 5, { versions, everyDays: 3 })).map(([, percent]) => percent),
      ["0.0000", "0.0000", "0.0000", "0.0000", "100.0000"]
    )
  })

  it("before its time the first version is assumed", () => {
    const prices = new Map([[a, series(100, 150)]])
    assert.deepStrictEqual(shown(task(prices, 2, { versions: [{ fromDay: day(9), allocation: only(a) }] })), [
      [0, "0.0000"],
      [1, "50.0000"]
    ])
  })

  it("begins on the first day on which every asset has a price", () => {
    const prices = new Map([
      [a, series(50, 100, 100, 110)],
      [b, series(null, null, 100, 110)]
    ])
    assert.deepStrictEqual(shown(task(prices, 4)), [
      [2, "0.0000"],
      [3, "10.0000"]
    ])
    assert.deepStrictEqual(shown(task(new Map([[a, series(1, 1)]]), 2)), [])
  })

  it("a day without a price has no point, and a rebalance waits for the day that has all", () => {
    const prices = new Map([
      [a, series(100, null, 200, 200)],
      [b, series(100, 100, 100, null)],
      [c, series(null, null, null, 100, 200)]
    ])
    assert.deepStrictEqual(shown(task(prices, 3)), [
      [0, "0.0000"],
      [2, "50.0000"]
    ])
    const versions = [
      { fromDay: day(0), allocation: only(a) },
      { fromDay: day(2), allocation: only(c) }
    ]
    assert.deepStrictEqual(shown(task(new Map([...prices, [a, series(100, 100, 200, 300, 900)]]), 5, { versions })), [
      [0, "0.0000"],
      [1, "0.0000"],
      [2, "100.0000"],
      [3, "200.0000"],
      [4, "500.0000"]
    ])
  })

  describe("an asset that has no price any more", () => {
    // a dies after day 2 at 200; b doubles from day 5 to day 6.
    const prices = new Map([
      [a, series(100, 100, 200)],
      [b, series(100, 100, 100, 100, 100, 100, 200)]
    ])
    const replacedOn = (fromDay: number, changes: Parameters<typeof task>[2] = {}) =>
      shown(
        task(prices, 7, {
          versions: [
            { fromDay: day(0), allocation: halves },
            { fromDay: day(fromDay), allocation: only(b) }
          ],
          ...changes
        })
      )

    it("is closed at its last price by a new version, and the curve goes on", () => {
      assert.deepStrictEqual(replacedOn(4), [
        [0, "0.0000"],
        [1, "0.0000"],
        [2, "50.0000"],
        [4, "50.0000"],
        [5, "50.0000"],
        [6, "200.0000"]
      ])
    })

    it("is waited for two days first, for prices may come late", () => {
      assert.deepStrictEqual(replacedOn(3), replacedOn(4))
    })

    it("is closed on a day on which the strategy rebalances, not before", () => {
      assert.deepStrictEqual(
        replacedOn(4, { everyDays: 6 }).map(([n]) => n),
        [0, 1, 2, 6]
      )
    })

    it("ends the curve of a strategy that keeps it", () => {
      assert.deepStrictEqual(
        shown(task(prices, 7)).map(([n]) => n),
        [0, 1, 2]
      )
    })

    it("is not closed for a version that lacks a price itself", () => {
      const versions = [
        { fromDay: day(0), allocation: halves },
        { fromDay: day(3), allocation: only(c) }
      ]
      const late = new Map([...prices, [c, series(null, null, null, null, null, 100, 110)]])
      assert.deepStrictEqual(shown(task(late, 7, { versions })).slice(3), [
        [5, "50.0000"],
        [6, "65.0000"]
      ])
    })
  })

  it("without versions or prices there is no curve", () => {
    assert.deepStrictEqual(shown(task(new Map(), 3)), [])
    assert.deepStrictEqual(shown(task(new Map([[a, series(1)]]), 1, { versions: [] })), [])
  })
})

const priceOf = fc.bigInt({ min: 1n, max: 10n ** 24n })
const pricesOf = (days: number) => fc.array(priceOf, { minLength: days, maxLength: days })
const seriesOf = (prices: ReadonlyArray<bigint>): PriceSeries => new Map(prices.map((price, n) => [day(n), price]))
const twoAssets = (left: ReadonlyArray<bigint>, right: ReadonlyArray<bigint>) =>
  new Map<AssetId, PriceSeries>([
    [a, seriesOf(left)],
    [b, seriesOf(right)]
  ])
const cadence = fc.integer({ min: 1, max: 40 })
const days = 30

describe("strategyCurve, any prices", () => {
  it("constant prices are no return", () => {
    fc.assert(
      fc.property(priceOf, priceOf, cadence, (left, right, everyDays) => {
        const prices = twoAssets(Array(days).fill(left), Array(days).fill(right))
        const curve = strategyCurve(task(prices, days, { everyDays }))
        assert.lengthOf(curve, days)
        for (const { index } of curve) assert.strictEqual(index, indexOne)
      })
    )
  })

  it("one asset's curve is its price", () => {
    const ordinary = fc.array(fc.bigInt({ min: Decimal.one / 100n, max: 10n ** 23n }), {
      minLength: days,
      maxLength: days
    })
    fc.assert(
      fc.property(ordinary, cadence, (prices, everyDays) => {
        const curve = strategyCurve(
          task(new Map([[a, seriesOf(prices)]]), days, {
            everyDays,
            versions: [{ fromDay: day(0), allocation: only(a) }]
          })
        )
        for (const [n, { index }] of curve.entries()) {
          const exact = (indexOne * prices[n]!) / prices[0]!
          const off = index > exact ? index - exact : exact - index
          // Each of the steps rounds down at the 36th place; prices differ by up to ten millionfold on the way.
          assert.isTrue(off <= BigInt(n + 1) * 10n ** 8n * (exact / indexOne + 1n), `${index} against ${exact}`)
        }
      })
    )
  })

  it("does not depend on the unit in which a price is counted", () => {
    fc.assert(
      fc.property(
        fc.tuple(pricesOf(days), pricesOf(days), fc.bigInt({ min: 2n, max: 10n ** 12n }), cadence),
        ([l, r, k, every]) => {
          const plain = strategyCurve(task(twoAssets(l, r), days, { everyDays: every }))
          const scaled = strategyCurve(
            task(
              twoAssets(
                l.map((price) => price * k),
                r
              ),
              days,
              { everyDays: every }
            )
          )
          assert.deepStrictEqual(scaled, plain)
        }
      )
    )
  })

  it("a day's return lies between those of the assets", () => {
    fc.assert(
      fc.property(fc.tuple(priceOf, priceOf, priceOf, priceOf), ([l0, l1, r0, r1]) => {
        const [, second] = strategyCurve(task(twoAssets([l0, l1], [r0, r1]), 2))
        const [left, right] = [(l1 * indexOne) / l0, (r1 * indexOne) / r0]
        assert.isTrue(second!.index >= (left < right ? left : right) - 2n)
        assert.isTrue(second!.index <= (left > right ? left : right) + 2n)
      })
    )
  })

  it("a version that only repeats the weights changes nothing", () => {
    fc.assert(
      fc.property(
        fc.tuple(pricesOf(days), pricesOf(days), cadence, fc.integer({ min: 1, max: days })),
        ([l, r, every, from]) => {
          const prices = twoAssets(l, r)
          const versions = [
            { fromDay: day(0), allocation: halves },
            { fromDay: day(from), allocation: halves }
          ]
          assert.deepStrictEqual(
            strategyCurve(task(prices, days, { everyDays: every, versions })),
            strategyCurve(task(prices, days, { everyDays: every }))
          )
        }
      )
    )
  })
})
