/** Backtests over the interface: what they answer, what they refuse, and that recorded prices decide. */
import { assert, layer } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import type { AssetId } from "#domain/values/Caip.ts"
import * as Day from "#domain/values/Day.ts"
import * as Decimal from "#domain/values/Decimal.ts"
import { ValidationFailed } from "#domain/errors/Errors.ts"
import { DailyPriceStore } from "#domain/market/DailyPriceStore.ts"
import { fillCatalogue, newTenant } from "#test/api/support/actors.ts"
import { Api, ApiLive } from "#test/api/support/Api.ts"
import { assertData, assertError } from "#test/api/support/assertions.ts"
import { arbUsdc, baseBtc, baseUsdc, baseWeth } from "#test/support/assets.ts"

const path = "/v2/strategies/backtest"

/** Prices in dollars of the days up to today, the last of them today's. */
const recorded = Effect.fnUntraced(function* (assetId: AssetId, prices: ReadonlyArray<number>) {
  yield* fillCatalogue
  const store = yield* DailyPriceStore
  const now = yield* DateTime.now
  const usd = (price: number) => Decimal.parse(price.toFixed(6))!
  yield* store.recordHistory({
    assetId,
    prices: prices.map((price, at) => ({ day: Day.add(Day.of(now), at - prices.length + 1), usd: usd(price) })),
    completeThrough: Day.of(now),
    at: now
  })
})

const back = Effect.fnUntraced(function* (days: number) {
  return Day.format(Day.add(Day.of(yield* DateTime.now), -days))
})

const draft = (from: string, to: string, more: object = {}) => ({
  allocation: {
    assets: [
      { assetId: baseUsdc.assetId, weight: "50" },
      { assetId: baseWeth.assetId, weight: "50" }
    ]
  },
  schedule: { type: "interval", frequency: "daily" },
  from,
  to,
  ...more
})

/** A price that swings around a hundred dollars. */
const swinging = (days: number) => Array.from({ length: days }, (_, day) => 100 + 20 * Math.sin(day / 3))

layer(ApiLive, { excludeTestServices: true })("backtests", (it) => {
  it.effect(
    "answers value, cost, turnover, error and trades of a policy, beside the exact target and buy and hold",
    () =>
      Effect.gen(function* () {
        const { call } = yield* Api
        const { key } = yield* newTenant()
        yield* recorded(
          baseUsdc.assetId,
          Array.from({ length: 120 }, () => 1)
        )
        yield* recorded(baseWeth.assetId, swinging(120))
        const [from, to] = [yield* back(90), yield* back(0)]
        const body = draft(from, to, {
          rebalancePolicy: { band: { kind: "relative", width: 1_000 } },
          thresholdUsd: "5.00"
        })
        const answer = yield* call("POST", path, { key, body })
        assertData(answer, 200, [
          "from",
          "to",
          "feeBps",
          "gasUsd",
          "thresholdUsd",
          "strategy",
          "exactTarget",
          "buyAndHold"
        ])
        const { buyAndHold, exactTarget, strategy, ...terms } = answer.json.data
        assert.deepStrictEqual(terms, { from, to, feeBps: 30, gasUsd: "0.100000", thresholdUsd: "5.000000" })
        for (const { endValueUsd, percentChange, points } of [strategy, exactTarget, buyAndHold]) {
          assert.deepInclude(points[0], { date: from, valueUsd: "10000.000000" })
          assert.strictEqual(points.length, 91)
          assert.deepInclude(points.at(-1), { date: to, valueUsd: endValueUsd })
          assert.closeTo(Number(percentChange), Number(endValueUsd) / 100 - 100, 0.0002)
        }
        assert.deepInclude(buyAndHold, { costUsd: "0.000000", costBps: "0.00", turnover: "0.0000", trades: 0 })
        const prices = swinging(120)
        assert.closeTo(Number(buyAndHold.endValueUsd), 5_000 + (5_000 * prices[119]!) / prices[29]!, 0.01)
        assert.isBelow(Number(strategy.costBps), Number(exactTarget.costBps))
        assert.isBelow(strategy.trades, exactTarget.trades)
        assert.isAbove(strategy.trades, 0)
        assert.isBelow(Number(exactTarget.trackingError), Number(strategy.trackingError))
        assert.isBelow(Number(strategy.trackingError), Number(buyAndHold.trackingError))
        assert.isBelow(Number(strategy.trackingError), 5)
      })
  )

  it.effect("without a policy its course is that of the exact target; a slower schedule trades less", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const { key } = yield* newTenant()
      const [from, to] = [yield* back(60), yield* back(0)]
      const { json } = yield* call("POST", path, { key, body: draft(from, to) })
      assert.deepStrictEqual(json.data.strategy, json.data.exactTarget)
      const slower = yield* call("POST", path, {
        key,
        body: draft(from, to, { schedule: { type: "interval", frequency: "weekly" } })
      })
      assert.isBelow(slower.json.data.strategy.trades, json.data.strategy.trades)
      assert.isAtMost(slower.json.data.strategy.trades, 8)
    })
  )

  it.effect("a missing history is refused with the asset and the day from which it has prices", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const { key } = yield* newTenant()
      yield* recorded(baseBtc.assetId, [1, 1, 1, 1, 1])
      const assets = (assetId: string) => ({
        allocation: {
          assets: [
            { assetId: baseUsdc.assetId, weight: "50" },
            { assetId, weight: "50" }
          ]
        }
      })
      const [from, to] = [yield* back(30), yield* back(0)]
      assertError(
        yield* call("POST", path, { key, body: draft(from, to, assets(baseBtc.assetId)) }),
        ValidationFailed,
        `allocation.assets.1.assetId: prices of ${baseBtc.assetId} exist from ${yield* back(4)} on`
      )
      assertError(
        yield* call("POST", path, { key, body: draft(from, to, assets(arbUsdc.assetId)) }),
        ValidationFailed,
        `allocation.assets.1.assetId: no prices of ${arbUsdc.assetId} are recorded since ${from}`
      )
      // What was missing is searched for again: the refusal is not cached.
      yield* recorded(
        arbUsdc.assetId,
        Array.from({ length: 40 }, () => 1)
      )
      const later = yield* call("POST", path, { key, body: draft(from, to, assets(arbUsdc.assetId)) })
      assert.strictEqual(later.status, 200)
    })
  )

  it.effect("what is out of its bounds is refused with the field and the range", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const { key } = yield* newTenant()
      const [from, to] = [yield* back(30), yield* back(0)]
      const refused: ReadonlyArray<readonly [object, string]> = [
        [{ from: to }, "from: expected 1 to 366 days before"],
        [{ from: yield* back(367) }, "from: expected 1 to 366 days before"],
        [{ to: yield* back(-1) }, `to: expected a day up to today, ${to}`],
        [{ from: "2026-02-30" }, "from: Expected a day of the form YYYY-MM-DD"],
        [{ to: "yesterday" }, "to: Expected a day of the form YYYY-MM-DD"],
        [{ valueUsd: "99.99" }, "valueUsd: Expected 100.00 to 1000000000.00"],
        [{ gasUsd: "1000.01" }, "gasUsd: Expected 0.00 to 1000.00"],
        [{ feeBps: 1_001 }, "feeBps: Expected a whole number from 0 to 1000"],
        [{ rebalancePolicy: { band: { kind: "relative" } } }, "rebalancePolicy.band.width: "],
        [{ allocation: { assets: [] } }, "allocation.assets: Expected 1 to 50 assets"],
        [{ allocation: { assets: [{ assetId: baseUsdc.assetId, weight: "99" }] } }, "allocation.assets: weights sum"],
        [{ unknown: 1 }, "unknown: "]
      ]
      for (const [more, detail] of refused) {
        assertError(yield* call("POST", path, { key, body: draft(from, to, more) }), ValidationFailed, detail)
      }
    })
  )
})
