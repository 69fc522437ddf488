/**
 * Every listed token in memory, ranked and searchable. It is made anew in the background when the catalogue or the
 * market data changed; requests read the one that is there.
 */
import { Clock, Context, Duration, Effect, Layer } from "effect"
import type { ChainId } from "#domain/values/Caip.ts"
import { ListedAssets } from "#domain/asset/ListedAssets.ts"
import { SubjectFacts } from "#domain/asset/SubjectFacts.ts"
import { keepGoingEvery } from "#domain/effects/keepGoing.ts"
import { type AssetSnapshot, makeSnapshot } from "#domain/listing/AssetSnapshot.ts"
import { IssuerPolicies } from "#domain/listing/IssuerPolicies.ts"
import { type Listing, makeListings } from "#domain/listing/Listing.ts"
import { makeMarketView } from "#domain/listing/MarketView.ts"
import { MarketDataCache } from "#domain/marketData/MarketDataCache.ts"

const pollInterval = Duration.seconds(5)
/** Market data arrives in many pieces; the order of listings need not follow each of them. */
const rankInterval = Duration.toMillis(Duration.seconds(15))
/** Time after which the ages that the view judges by are judged again. */
const viewLife = Duration.toMillis(Duration.minutes(1))

/**
 * Every listed token in memory.
 *
 * **When to use**
 *
 * Use to read the index at one moment; take `current` once for one answer. `fiber` keeps it up to date.
 */
export class AssetIndex extends Context.Service<
  AssetIndex,
  {
    readonly current: () => AssetSnapshot
    /** Brings the index up to date with the catalogue and the cache, as far as it is time to. */
    readonly load: Effect.Effect<void>
  }
>()("ballast/domain/listing/AssetIndex") {
  static readonly layer = Layer.effect(
    AssetIndex,
    Effect.gen(function* () {
      const listed = yield* ListedAssets
      const facts = yield* SubjectFacts
      const issuers = yield* IssuerPolicies
      const cache = yield* MarketDataCache
      let listings: ReadonlyArray<Listing> = []
      let chainIds: ReadonlyArray<ChainId> = []
      let state = { version: "", revision: -1, madeAt: Number.NEGATIVE_INFINITY }
      let snapshot = yield* makeSnapshot([], makeMarketView(cache, [], yield* Clock.currentTimeMillis))

      const load = Effect.gen(function* () {
        const version = yield* listed.version
        const now = yield* Clock.currentTimeMillis
        const isNew = version !== state.version
        const age = now - state.madeAt
        if (!isNew && age < rankInterval) return
        if (!isNew && cache.revision() === state.revision && age < viewLife) return
        if (isNew) {
          listings = makeListings(yield* listed.all, facts, issuers)
          chainIds = [...new Set(listings.map(({ chainId }) => chainId))]
        }
        const revision = cache.revision()
        snapshot = yield* makeSnapshot(listings, makeMarketView(cache, chainIds, now), snapshot)
        // The next sort begins with this order.
        listings = snapshot.ranked
        state = { version, revision, madeAt: now }
      }).pipe(Effect.withSpan("AssetIndex.load"))

      return AssetIndex.of({ current: () => snapshot, load })
    })
  )

  /** Loads once before the first search, and again and again; while the database is down the last index stays. */
  static readonly fiber = Layer.effectDiscard(
    Effect.gen(function* () {
      const { load } = yield* AssetIndex
      const cache = yield* MarketDataCache
      const complaint = "The index of assets could not be made"
      yield* Effect.ignoreCause(cache.load)
      yield* Effect.catchCause(load, (cause) => Effect.logError(complaint, cause))
      yield* keepGoingEvery(load, { complaint, interval: pollInterval })
    })
  )
}
