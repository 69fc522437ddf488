/**
 * Records what every asset of a strategy costs, once a UTC day, and fills its past from the source's history when the
 * asset is first used or when days were missed.
 *
 * Histories cost a request each, so only so many are fetched in an interval; the rest waits for the next. What fails is
 * tried again later. A crash loses nothing: what is recorded stays, and a gap that was claimed is claimed again.
 */
import { Context, DateTime, Duration, Effect, Fiber, Layer, Ref, Semaphore } from "effect"
import type { AssetId } from "#domain/values/Caip.ts"
import * as Day from "#domain/values/Day.ts"
import { keepGoingEvery } from "#domain/effects/keepGoing.ts"
import { DailyPriceStore, type HistoryGap } from "#domain/market/DailyPriceStore.ts"
import { PriceHistory } from "#domain/market/PriceHistory.ts"
import { isPlausiblePrice, mayTradeOn, Prices } from "#domain/market/Prices.ts"
import { PriceHistorySettings } from "#domain/market/PriceSettings.ts"

/** How far back a history is requested. */
const historyDays = 365
const tryAgainAfter = Duration.minutes(10)
/** Versions that were committed late by a slow transaction are still seen. */
const overlap = Duration.minutes(10)
/** A day's price is not older than this. */
const maxAge = Duration.hours(1)
const concurrency = 2
const priceBatchSize = 500
const timeout = Duration.seconds(4)
const isPlausible = ({ usd }: { readonly usd: bigint }): boolean => isPlausiblePrice(usd)

/**
 * Records the prices of assets in use.
 *
 * **When to use**
 *
 * Use `fiber` in the composition of the service, and `begin` where a request waits for the history of an asset that is
 * new.
 */
export class PriceRecorder extends Context.Service<
  PriceRecorder,
  {
    /** Fills gaps as far as this interval still allows, and records today's prices that are missing. */
    readonly tick: Effect.Effect<void>
    /**
     * Fills the gaps of these assets, as far as this interval still allows, and waits for it a few seconds at most. For
     * requests about a strategy that was created just now.
     */
    readonly begin: (assetIds: ReadonlyArray<AssetId>) => Effect.Effect<void>
  }
>()("ballast/domain/market/PriceRecorder") {
  static readonly layer = Layer.effect(
    PriceRecorder,
    Effect.gen(function* () {
      const store = yield* DailyPriceStore
      const history = yield* PriceHistory
      const prices = yield* Prices
      const { batch, intervalMs } = yield* PriceHistorySettings
      const scope = yield* Effect.scope
      const seenUntil = yield* Ref.make(DateTime.makeUnsafe(0))
      const spent = yield* Ref.make({ since: 0, histories: 0 })
      const filling = yield* Semaphore.make(1)

      const track = Effect.gen(function* () {
        const now = yield* DateTime.now
        const since = yield* Ref.get(seenUntil)
        yield* store.track(DateTime.subtractDuration(since, overlap), now)
        yield* Ref.set(seenUntil, now)
      })

      /** Takes up to `wanted` histories out of what the present interval allows. */
      const allow = Effect.fnUntraced(function* (wanted: number) {
        const now = (yield* DateTime.now).epochMilliseconds
        return yield* Ref.modify(spent, (before) => {
          const current = now - before.since >= intervalMs ? { since: now, histories: 0 } : before
          const allowed = Math.max(0, Math.min(wanted, batch - current.histories))
          return [allowed, { ...current, histories: current.histories + allowed }]
        })
      })

      const fill = Effect.fnUntraced(
        function* ({ assetId, completeThrough }: HistoryGap) {
          const now = yield* DateTime.now
          const today = Day.of(now)
          const days = completeThrough === null ? historyDays : Math.min(historyDays, today - completeThrough + 1)
          const found = yield* history.daily(assetId, days)
          yield* store.recordHistory({ assetId, prices: found.filter(isPlausible), completeThrough: today, at: now })
        },
        (effect, { assetId }) =>
          Effect.catchTag(effect, "PricesUnavailable", ({ message }) =>
            Effect.logWarning(`The price history of ${assetId} is not complete yet: ${message}`)
          )
      )

      const fillGaps = Effect.fnUntraced(function* (wanted: number, among?: ReadonlyArray<AssetId>) {
        const limit = yield* allow(wanted)
        if (limit === 0) return
        const now = yield* DateTime.now
        const gaps = yield* store.claimGaps({
          now,
          triedBefore: DateTime.subtractDuration(now, tryAgainAfter),
          completeThrough: Day.add(Day.of(now), -1),
          limit,
          among
        })
        yield* Ref.update(spent, (before) => ({ ...before, histories: before.histories - (limit - gaps.length) }))
        yield* Effect.forEach(gaps, fill, { concurrency, discard: true })
        // One after the other: a caller that waits for an asset waits for the tick that is filling it.
      }, filling.withPermit)

      const recordSome = Effect.fnUntraced(
        function* (assetIds: ReadonlyArray<AssetId>) {
          const latest = yield* prices.latest(assetIds)
          const now = yield* DateTime.now
          const oldest = DateTime.subtractDuration(now, maxAge)
          const usable = [...latest].filter(
            ([, price]) => isPlausible(price) && mayTradeOn(price, oldest.epochMilliseconds)
          )
          yield* store.recordDay(Day.of(now), new Map(usable.map(([assetId, { usd }]) => [assetId, usd])), now)
        },
        Effect.catchTag("PricesUnavailable", ({ message }) =>
          Effect.logWarning(`Today's prices are not recorded yet: ${message}`)
        )
      )

      const recordToday = Effect.gen(function* () {
        const missing = yield* store.unpriced(Day.of(yield* DateTime.now))
        for (let first = 0; first < missing.length; first += priceBatchSize) {
          yield* recordSome(missing.slice(first, first + priceBatchSize))
        }
      })

      const tick = Effect.gen(function* () {
        yield* track
        yield* fillGaps(batch)
        yield* recordToday
      }).pipe(Effect.withSpan("PriceRecorder.tick"))

      // In the scope of the service: a reader that goes away does not leave a claimed gap open.
      const begin = Effect.fn("PriceRecorder.begin")(function* (assetIds: ReadonlyArray<AssetId>) {
        const begun = yield* Effect.andThen(track, fillGaps(assetIds.length, assetIds)).pipe(Effect.forkIn(scope))
        yield* Effect.timeoutOption(Fiber.join(begun), timeout)
      })

      return PriceRecorder.of({ tick, begin })
    })
  )

  /** The fiber that ticks for as long as the layer lives; a failed tick is logged and the next one tries again. */
  static readonly fiber = Layer.effectDiscard(
    Effect.gen(function* () {
      const recorder = yield* PriceRecorder
      const { intervalMs } = yield* PriceHistorySettings
      yield* keepGoingEvery(recorder.tick, {
        complaint: "Prices could not be recorded",
        interval: Duration.millis(intervalMs)
      })
    })
  )
}
