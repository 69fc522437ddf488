import { assert } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as Day from "#domain/values/Day.ts"
import * as Decimal from "#domain/values/Decimal.ts"
import { DailyPriceStore } from "#domain/market/DailyPriceStore.ts"
import { StrategyStore } from "#domain/strategy/StrategyStore.ts"
import { after, insertStrategy, insertTenant, noon, usdc, weth } from "#test/layers/sql/fixtures.ts"
import { eachDatabase } from "#test/support/database.ts"

const today = Day.of(noon)
const day = (back: number) => Day.add(today, -back)

/** Tracked: USDC and WETH, nothing known of them. */
const tracked = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`TRUNCATE tracked_assets, asset_daily_prices`
  const store = yield* DailyPriceStore
  const strategy = yield* insertStrategy(yield* insertTenant)
  yield* store.track(noon, noon)
  return { store, strategy }
})

const query = { now: noon, triedBefore: after(-600_000), completeThrough: day(1), limit: 10 }

eachDatabase("DailyPriceStore", (it) => {
  it.effect("tracks what versions name, from a moment on", () =>
    Effect.gen(function* () {
      const { store, strategy } = yield* tracked
      assert.deepStrictEqual(yield* store.unpriced(today), [weth, usdc].sort())
      const sql = yield* SqlClient.SqlClient
      yield* sql`TRUNCATE tracked_assets`
      yield* store.track(after(1), noon)
      assert.deepStrictEqual(yield* store.unpriced(today), [])
      yield* (yield* StrategyStore).publish({
        strategyId: strategy.strategyId,
        allocation: [{ assetId: weth, weight: 10_000 }],
        changeLog: null,
        createdAt: after(1)
      })
      yield* store.track(after(1), noon)
      yield* store.track(after(1), noon)
      assert.deepStrictEqual(yield* store.unpriced(today), [weth])
    })
  )

  it.effect("keeps the first price of a day, to the last decimal place", () =>
    Effect.gen(function* () {
      const { store } = yield* tracked
      yield* store.recordDay(today, new Map([[weth, 2_500_000_000_000_000_000_001n]]), noon)
      yield* store.recordDay(today, new Map([[weth, 1n]]), noon)
      yield* store.recordHistory({
        assetId: weth,
        prices: [
          { day: day(2), usd: 7n },
          { day: today, usd: 8n }
        ],
        completeThrough: today,
        at: noon
      })
      assert.deepStrictEqual(yield* store.unpriced(today), [usdc])
      const all = yield* store.read([weth, usdc], day(9))
      assert.deepStrictEqual([...all.keys()], [weth])
      assert.deepStrictEqual(
        new Map(all.get(weth)),
        new Map([
          [day(2), 7n],
          [today, 2_500_000_000_000_000_000_001n]
        ])
      )
      assert.deepStrictEqual([...(yield* store.read([weth], day(1))).get(weth)!.keys()], [today])
    })
  )

  it.effect("hands a gap to one claim only, until the next try is due, those never tried first", () =>
    Effect.gen(function* () {
      const { store } = yield* tracked
      const [first, second] = [weth, usdc].sort() as [typeof weth, typeof weth]
      assert.deepStrictEqual(yield* store.claimGaps({ ...query, limit: 1 }), [
        { assetId: first, completeThrough: null }
      ])
      const later = { ...query, now: after(600_000), triedBefore: noon }
      const next = yield* store.claimGaps({ ...later, limit: 1 })
      assert.deepStrictEqual(
        next.map(({ assetId }) => assetId),
        [second]
      )
      assert.deepStrictEqual(yield* store.claimGaps(query), [])
      assert.deepStrictEqual(yield* store.claimGaps({ ...later, among: [] }), [])
      assert.deepStrictEqual(yield* store.claimGaps({ ...later, among: [second] }), [])
      assert.deepStrictEqual(yield* store.claimGaps({ ...later, among: [first] }), [
        { assetId: first, completeThrough: null }
      ])
    })
  )

  it.effect("many claims at once never share a gap", () =>
    Effect.gen(function* () {
      const { store } = yield* tracked
      const claims = yield* Effect.all(
        Array.from({ length: 8 }, () => store.claimGaps({ ...query, limit: 1 })),
        { concurrency: "unbounded" }
      )
      const assetIds = claims.flat().map(({ assetId }) => assetId)
      assert.strictEqual(new Set(assetIds).size, assetIds.length)
    })
  )

  it.effect("a complete history has a gap again only when a day was missed", () =>
    Effect.gen(function* () {
      const { store } = yield* tracked
      yield* store.recordHistory({ assetId: weth, prices: [], completeThrough: today, at: noon })
      yield* store.recordHistory({
        assetId: usdc,
        prices: [{ day: today, usd: Decimal.one }],
        completeThrough: today,
        at: noon
      })
      assert.deepStrictEqual(yield* store.claimGaps(query), [])
      const tomorrow = Day.add(today, 1)
      yield* store.recordDay(tomorrow, new Map([[weth, Decimal.one]]), noon)
      const inTwoDays = {
        ...query,
        now: DateTime.add(noon, { days: 2 }),
        triedBefore: DateTime.add(noon, { days: 1 }),
        completeThrough: tomorrow
      }
      assert.deepStrictEqual(yield* store.claimGaps(inTwoDays), [{ assetId: usdc, completeThrough: today }])
      yield* store.recordDay(Day.add(tomorrow, 5), new Map([[weth, Decimal.one]]), noon)
      assert.deepStrictEqual(
        (yield* store.claimGaps({ ...inTwoDays, completeThrough: Day.add(tomorrow, 4) })).map(({ assetId }) => assetId),
        [weth]
      )
    })
  )
})
