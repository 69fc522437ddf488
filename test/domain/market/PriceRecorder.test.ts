import { assert, describe, it, layer } from "@effect/vitest"
import { Context, DateTime, Effect, Fiber, Layer, Ref } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import type { AssetId } from "#domain/values/Caip.ts"
import * as Day from "#domain/values/Day.ts"
import * as Decimal from "#domain/values/Decimal.ts"
import { DailyPriceStore } from "#domain/market/DailyPriceStore.ts"
import { type DayPrice, PriceHistory } from "#domain/market/PriceHistory.ts"
import { PriceRecorder } from "#domain/market/PriceRecorder.ts"
import { Prices, PricesUnavailable } from "#domain/market/Prices.ts"
import { MovableClock } from "#test/support/MovableClock.ts"
import { insertStrategy, insertTenant, usdc, weth } from "#test/layers/sql/fixtures.ts"
import { TestStores } from "#test/support/database.ts"
import { TestSettings, testSettings } from "#test/support/settings.ts"

const minute = 60_000
const dayMs = 86_400_000

class Source extends Context.Service<
  Source,
  {
    readonly latest: Map<AssetId, bigint>
    /** How old a latest price is, in milliseconds. */
    age: number
    /** What a past day cost; `undefined`: the source does not know the asset. */
    past: (assetId: AssetId, day: Day.Day) => bigint | undefined
    isDown: boolean
    readonly histories: Array<readonly [AssetId, number]>
  }
>()("ballast/test/Source") {
  static readonly layer = Layer.sync(Source, () => ({
    latest: new Map(),
    age: 0,
    past: () => Decimal.one,
    isDown: false,
    histories: []
  }))
}

const down = new PricesUnavailable({ reason: "taken down by the test" })

const HistoryFake = Layer.effect(
  PriceHistory,
  Effect.map(Source, (source) =>
    PriceHistory.of({
      daily: Effect.fnUntraced(function* (assetId, days) {
        source.histories.push([assetId, days])
        if (source.isDown) return yield* down
        const today = Day.of(yield* DateTime.now)
        return Array.from({ length: days }, (_, n) => Day.add(today, n - days + 1)).flatMap(
          (day): ReadonlyArray<DayPrice> => {
            const usd = source.past(assetId, day)
            return usd === undefined ? [] : [{ day, usd }]
          }
        )
      })
    })
  )
)

const PricesFake = Layer.effect(
  Prices,
  Effect.map(Source, (source) =>
    Prices.of({
      latest: Effect.fnUntraced(function* (assetIds) {
        if (source.isDown) return yield* down
        const asOf = DateTime.subtract(yield* DateTime.now, { milliseconds: source.age })
        return new Map(
          assetIds.flatMap((assetId) => {
            const usd = source.latest.get(assetId)
            return usd === undefined ? [] : [[assetId, { usd, asOf }] as const]
          })
        )
      })
    })
  )
)

const World = PriceRecorder.layer.pipe(
  Layer.provideMerge(Layer.mergeAll(HistoryFake, PricesFake).pipe(Layer.provideMerge(Source.layer))),
  Layer.provideMerge(TestStores),
  Layer.provide(TestSettings),
  Layer.provideMerge(MovableClock.layer)
)

/**
 * A source that has every price, a strategy of USDC and WETH, and a clock at noon of a day that no test had before.
 */
const begin = Effect.gen(function* () {
  const clock = yield* MovableClock
  const now = (yield* DateTime.now).epochMilliseconds
  clock.advance(3 * dayMs - (now % dayMs) + dayMs / 2)
  const sql = yield* SqlClient.SqlClient
  yield* sql`TRUNCATE tracked_assets, asset_daily_prices`
  const strategy = yield* insertStrategy(yield* insertTenant)
  yield* (yield* DailyPriceStore).track(DateTime.makeUnsafe(0), yield* DateTime.now)
  const source = yield* Source
  source.histories.length = 0
  source.isDown = false
  source.age = 0
  source.past = () => Decimal.one
  source.latest.clear()
  source.latest.set(usdc, Decimal.one)
  source.latest.set(weth, 2500n * Decimal.one)
  return { clock, source, strategy, recorder: yield* PriceRecorder, today: Day.of(yield* DateTime.now) }
})

/** The recorded prices of an asset, by days before `today`. */
const recorded = Effect.fnUntraced(function* (assetId: AssetId, today: Day.Day) {
  const series = (yield* (yield* DailyPriceStore).read([assetId], 0 as Day.Day)).get(assetId) ?? new Map()
  return new Map([...series].map(([day, usd]) => [today - day, usd as bigint]))
})

layer(World, { excludeTestServices: true })("PriceRecorder", (it) => {
  it.effect("fills the year before an asset was first used, once", () =>
    Effect.gen(function* () {
      const { clock, recorder, source, today } = yield* begin
      source.past = (assetId, day) => (assetId === weth ? BigInt(day) : Decimal.one)
      yield* recorder.tick
      const prices = yield* recorded(weth, today)
      assert.strictEqual(prices.size, 365)
      assert.strictEqual(prices.get(364), BigInt(today - 364))
      assert.strictEqual(prices.get(0), BigInt(today))
      clock.advance(minute)
      yield* recorder.tick
      assert.deepStrictEqual(
        source.histories.map(([, days]) => days),
        [365, 365]
      )
    })
  )

  it.effect("records each day's first price, and no later one", () =>
    Effect.gen(function* () {
      const { clock, recorder, source, today } = yield* begin
      yield* recorder.tick
      clock.advance(dayMs)
      yield* recorder.tick
      source.latest.set(weth, 9000n * Decimal.one)
      clock.advance(minute)
      yield* recorder.tick
      const prices = yield* recorded(weth, Day.add(today, 1))
      assert.strictEqual(prices.get(0), 2500n * Decimal.one)
      assert.strictEqual(prices.get(1), Decimal.one)
      assert.lengthOf(source.histories, 2)
    })
  )

  it.effect("fills the days that were missed, from the history alone", () =>
    Effect.gen(function* () {
      const { clock, recorder, source, today } = yield* begin
      yield* recorder.tick
      clock.advance(5 * dayMs)
      source.past = (_, day) => BigInt(day)
      yield* recorder.tick
      const prices = yield* recorded(weth, Day.add(today, 5))
      assert.deepStrictEqual(
        [5, 4, 1, 0].map((back) => prices.get(back)),
        [Decimal.one, BigInt(today + 1), BigInt(today + 4), BigInt(today + 5)]
      )
      assert.deepStrictEqual(
        source.histories.slice(2).map(([, days]) => days),
        [6, 6]
      )
    })
  )

  it.effect("what fails is tried again later, and holds up nothing", () =>
    Effect.gen(function* () {
      const { clock, recorder, source, today } = yield* begin
      source.isDown = true
      yield* recorder.tick
      assert.strictEqual((yield* recorded(weth, today)).size, 0)
      source.isDown = false
      clock.advance(minute)
      yield* recorder.tick
      assert.deepStrictEqual([...(yield* recorded(weth, today))], [[0, 2500n * Decimal.one]])
      clock.advance(10 * minute)
      yield* recorder.tick
      assert.strictEqual((yield* recorded(weth, today)).size, 365)
    })
  )

  it.effect("an asset that the source does not know is asked for again after two days, not before", () =>
    Effect.gen(function* () {
      const { clock, recorder, source, today } = yield* begin
      source.past = () => undefined
      source.latest.clear()
      for (const wait of [0, 11 * minute, dayMs]) {
        clock.advance(wait)
        yield* recorder.tick
      }
      assert.lengthOf(source.histories, 2)
      clock.advance(dayMs)
      source.past = () => Decimal.one
      yield* recorder.tick
      assert.lengthOf(source.histories, 4)
      assert.isTrue((yield* recorded(weth, today)).has(-1))
    })
  )

  it.effect("a price that cannot be right is left out, and stops nothing else", () =>
    Effect.gen(function* () {
      const { recorder, source, today } = yield* begin
      source.past = (assetId, day) => (assetId === weth && day === today - 3 ? 10n ** 50n : Decimal.one)
      yield* recorder.tick
      assert.isFalse((yield* recorded(weth, today)).has(3))
      assert.strictEqual((yield* recorded(usdc, today)).size, 365)
    })
  )

  it.effect("a price that is older than an hour is not today's", () =>
    Effect.gen(function* () {
      const { recorder, source, today } = yield* begin
      source.past = () => undefined
      source.age = 60 * minute + 1
      yield* recorder.tick
      assert.strictEqual((yield* recorded(weth, today)).size, 0)
      source.age = 59 * minute
      yield* recorder.tick
      assert.strictEqual((yield* recorded(weth, today)).size, 1)
    })
  )

  it.effect("fetches only so many histories in an interval", () =>
    Effect.gen(function* () {
      const { clock, recorder, source } = yield* begin
      const sql = yield* SqlClient.SqlClient
      yield* sql`
        INSERT INTO tracked_assets (asset_id, tracked_at)
        SELECT 'eip155:8453/erc20:0x' || lpad(n::text, 40, '0'), now() FROM generate_series(1, 23) n`
      yield* recorder.tick
      yield* recorder.tick
      assert.lengthOf(source.histories, testSettings.priceHistory.batch)
      clock.advance(testSettings.priceHistory.intervalMs)
      yield* recorder.tick
      assert.lengthOf(source.histories, 2 * testSettings.priceHistory.batch)
      clock.advance(testSettings.priceHistory.intervalMs)
      yield* recorder.tick
      assert.lengthOf(source.histories, 25)
    })
  )

  it.effect("begins with an asset at once when somebody waits for it", () =>
    Effect.gen(function* () {
      const { recorder, source, today } = yield* begin
      const sql = yield* SqlClient.SqlClient
      yield* sql`TRUNCATE tracked_assets`
      yield* insertStrategy(yield* insertTenant)
      yield* (yield* DailyPriceStore).track(DateTime.makeUnsafe(0), yield* DateTime.now)
      yield* recorder.begin([weth])
      assert.deepStrictEqual(source.histories, [[weth, 365]])
      assert.strictEqual((yield* recorded(weth, today)).size, 365)
      yield* recorder.begin([weth])
      assert.lengthOf(source.histories, 1)
    })
  )
})

describe("PriceRecorder.begin", () => {
  it.effect("waits for the tick that is filling the asset, and no longer than its timeout", () =>
    Effect.gen(function* () {
      const claims = yield* Ref.make(0)
      const filled = yield* Ref.make(0)
      const store = Layer.mock(DailyPriceStore, {
        track: () => Effect.void,
        claimGaps: () =>
          Effect.map(
            Ref.updateAndGet(claims, (n) => n + 1),
            (n) => (n === 1 ? [{ assetId: weth, completeThrough: null }] : [])
          ),
        recordHistory: () => Ref.update(filled, (n) => n + 1),
        unpriced: () => Effect.succeed([])
      })
      const slow = Layer.mock(PriceHistory, { daily: () => Effect.as(Effect.sleep("3 seconds"), []) })
      const never = Layer.mock(PriceHistory, { daily: () => Effect.never })
      const recorderWith = (history: Layer.Layer<PriceHistory>) =>
        PriceRecorder.layer.pipe(
          Layer.provide([store, history, PricesFake.pipe(Layer.provide(Source.layer)), TestSettings])
        )
      yield* Effect.gen(function* () {
        const { begin: beginWith, tick } = yield* PriceRecorder
        yield* Effect.forkChild(tick)
        yield* TestClock.adjust(1)
        const waiting = yield* Effect.forkChild(Effect.andThen(beginWith([weth]), Ref.get(filled)))
        yield* TestClock.adjust("3 seconds")
        assert.strictEqual(yield* Fiber.join(waiting), 1)
      }).pipe(Effect.provide(recorderWith(slow)))
      yield* Ref.set(claims, 0)
      yield* Effect.gen(function* () {
        const waiting = yield* Effect.forkChild((yield* PriceRecorder).begin([weth]))
        yield* TestClock.adjust("4 seconds")
        yield* Fiber.join(waiting)
      }).pipe(Effect.provide(recorderWith(never)))
    })
  )
})

describe("PriceRecorder.fiber", () => {
  it.effect("ticks now and at every interval, also after a tick that failed", () =>
    Effect.gen(function* () {
      const ticks = yield* Ref.make(0)
      const store = Layer.mock(DailyPriceStore, {
        track: () =>
          Effect.flatMap(
            Ref.updateAndGet(ticks, (n) => n + 1),
            (n) => (n === 1 ? Effect.die(new Error("the first tick fails")) : Effect.void)
          ),
        claimGaps: () => Effect.succeed([]),
        unpriced: () => Effect.succeed([])
      })
      const fiber = PriceRecorder.fiber.pipe(
        Layer.provide(PriceRecorder.layer),
        Layer.provide([store, Layer.mergeAll(HistoryFake, PricesFake).pipe(Layer.provide(Source.layer)), TestSettings])
      )
      yield* Effect.gen(function* () {
        yield* TestClock.adjust(0)
        assert.strictEqual(yield* Ref.get(ticks), 1)
        yield* TestClock.adjust(testSettings.priceHistory.intervalMs)
        assert.strictEqual(yield* Ref.get(ticks), 2)
      }).pipe(Effect.provide(fiber))
    })
  )
})
