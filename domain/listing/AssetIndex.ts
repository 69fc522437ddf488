/**
 * Every listed token in memory, ranked and searchable. It is made anew in the background when the catalogue or the market data
 * changed; requests read the one that is there.
 */
import { Clock, Context, Duration, Effect, Layer, Schedule } from "effect"
import { ListedAssets } from "#domain/asset/ListedAssets.ts"
import { SubjectFacts } from "#domain/asset/SubjectFacts.ts"
import type { AssetItem, StockItem, TagGroups } from "#domain/listing/AssetModels.ts"
import { IssuerPolicies } from "#domain/listing/IssuerPolicies.ts"
import { type Listing, makeListings } from "#domain/listing/Listing.ts"
import { makeMarketView, type MarketView } from "#domain/listing/MarketView.ts"
import { tagsOf } from "#domain/listing/stockTags.ts"
import { folded, makeTextIndex, type TextIndex } from "#domain/listing/TextIndex.ts"
import { MarketDataCache } from "#domain/marketData/MarketDataCache.ts"

const pollInterval = Duration.seconds(5)
/** Market data arrives in many pieces; the order of listings need not follow each of them. */
const rankInterval = Duration.toMillis(Duration.seconds(15))
/** After this the ages that the view judges by are judged again. */
const viewLife = Duration.toMillis(Duration.minutes(1))

export interface RankedStock {
  readonly listing: Listing
  readonly tags: TagGroups
}

export interface AssetSnapshot {
  /** By market capitalisation, the largest first; what nobody knows the size of comes last, by symbol. */
  readonly ranked: ReadonlyArray<Listing>
  readonly byId: ReadonlyMap<string, Listing>
  /** By address in lower case, on whatever chain. */
  readonly byAddress: ReadonlyMap<string, ReadonlyArray<Listing>>
  readonly byIssuer: ReadonlyMap<string, ReadonlyArray<Listing>>
  readonly byExposure: ReadonlyMap<string, ReadonlyArray<Listing>>
  readonly byCategory: ReadonlyMap<string, ReadonlyArray<Listing>>
  /** Tokenized shares in the order of `ranked`, by id. */
  readonly stocks: ReadonlyMap<string, RankedStock>
  /** Over `ranked`, by place. */
  readonly text: TextIndex
  readonly view: MarketView
  readonly itemOf: (listing: Listing) => AssetItem
  readonly stockItemOf: (stock: RankedStock) => StockItem
}

const grouped = (
  ranked: ReadonlyArray<Listing>,
  keysOf: (listing: Listing) => Iterable<string>
): ReadonlyMap<string, ReadonlyArray<Listing>> => {
  const groups = new Map<string, Array<Listing>>()
  for (const listing of ranked) {
    for (const key of keysOf(listing)) {
      const group = groups.get(key)
      if (group === undefined) groups.set(key, [listing])
      else group.push(listing)
    }
  }
  return groups
}

const rank = (listings: ReadonlyArray<Listing>, view: MarketView): ReadonlyArray<Listing> =>
  listings
    .map((listing) => ({ listing, cap: view.capOf(listing) ?? -1, symbol: listing.ticker ?? listing.asset.symbol }))
    .sort(
      (a, b) =>
        b.cap - a.cap ||
        (a.symbol < b.symbol ? -1 : a.symbol > b.symbol ? 1 : a.listing.assetId < b.listing.assetId ? -1 : 1)
    )
    .map(({ listing }) => listing)

export const makeSnapshot = (listings: ReadonlyArray<Listing>, view: MarketView): AssetSnapshot => {
  const ranked = rank(listings, view)
  const items = new Map<Listing, AssetItem>()
  const stockItems = new Map<Listing, StockItem>()
  const itemOf = (listing: Listing): AssetItem => {
    const known = items.get(listing)
    if (known !== undefined) return known
    const item = {
      assetId: listing.assetId,
      marketData: view.marketDataOf(listing),
      metadata: { ...listing.metadata, logoUrl: view.logoOf(listing) },
      taxonomy: listing.taxonomy
    }
    items.set(listing, item)
    return item
  }
  const stockItemOf = ({ listing, tags }: RankedStock): StockItem => {
    const known = stockItems.get(listing)
    if (known !== undefined) return known
    const item = {
      ...itemOf(listing),
      ticker: listing.ticker ?? listing.asset.symbol,
      companyName: listing.asset.subject?.name ?? listing.asset.name,
      tags: [...new Set([...tags.type, ...tags.sector, ...tags.style, ...tags.cap, ...tags.region])]
    }
    stockItems.set(listing, item)
    return item
  }
  return {
    ranked,
    byId: new Map(ranked.map((listing) => [listing.assetId, listing])),
    byAddress: grouped(ranked, ({ address }) => [address.toLowerCase()]),
    byIssuer: grouped(ranked, ({ asset }) => (asset.issuer === null ? [] : [asset.issuer])),
    byExposure: grouped(ranked, ({ exposureSlugs }) => exposureSlugs),
    byCategory: grouped(ranked, ({ taxonomy }) => taxonomy.exposureCategories),
    stocks: new Map(
      ranked.flatMap((listing) =>
        listing.ticker === null ? [] : [[listing.assetId, { listing, tags: tagsOf(listing, view) }] as const]
      )
    ),
    text: makeTextIndex(
      ranked.map(({ asset, ticker }) => ({
        symbols: [...new Set([folded(asset.symbol), ...(ticker === null ? [] : [folded(ticker)])])],
        name: folded(asset.name)
      }))
    ),
    view,
    itemOf,
    stockItemOf
  }
}

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
      let chainIds: ReadonlyArray<number> = []
      let state = { version: "", revision: -1, madeAt: Number.NEGATIVE_INFINITY }
      let snapshot = makeSnapshot([], makeMarketView(cache, [], yield* Clock.currentTimeMillis))

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
        snapshot = makeSnapshot(listings, makeMarketView(cache, chainIds, now))
        state = { version, revision, madeAt: now }
      }).pipe(Effect.withSpan("AssetIndex.load"))

      return AssetIndex.of({ current: () => snapshot, load })
    })
  )

  /** Loads once before anything is asked, and again and again; while the database is down the last index stays. */
  static readonly fiber = Layer.effectDiscard(
    Effect.gen(function* () {
      const { load } = yield* AssetIndex
      const cache = yield* MarketDataCache
      const attempt = Effect.catchCause(load, (cause) =>
        Effect.logError("The index of assets could not be made", cause)
      )
      yield* Effect.ignoreCause(cache.load)
      yield* attempt
      yield* attempt.pipe(Effect.repeat(Schedule.spaced(pollInterval)), Effect.forkScoped)
    })
  )
}
