/**
 * Every listed token at one moment, ranked, grouped and searchable. It is made in slices between which other fibers
 * run, so that tens of thousands of tokens hold up no request; what depends on the order alone is taken over while the
 * order stays.
 */
import { Effect } from "effect"
import type { AssetItem, StockItem, TagGroups } from "#domain/listing/AssetModels.ts"
import type { Listing } from "#domain/listing/Listing.ts"
import type { MarketView } from "#domain/listing/MarketView.ts"
import { tagsOf } from "#domain/listing/stockTags.ts"
import { folded, type TextIndex, textIndexBuilder } from "#domain/listing/TextIndex.ts"

/** Listings of one slice: well under a millisecond of work. */
export const sliceSize = 500

export interface RankedStock {
  readonly listing: Listing
  readonly tags: TagGroups
}

export interface AssetSnapshot {
  /** Listings by market capitalisation, the largest first; assets of unknown size come last, by symbol. */
  readonly ranked: ReadonlyArray<Listing>
  readonly byId: ReadonlyMap<string, Listing>
  /** Listings by address in lower case, on whatever chain. */
  readonly byAddress: ReadonlyMap<string, ReadonlyArray<Listing>>
  readonly byIssuer: ReadonlyMap<string, ReadonlyArray<Listing>>
  readonly byExposure: ReadonlyMap<string, ReadonlyArray<Listing>>
  readonly byCategory: ReadonlyMap<string, ReadonlyArray<Listing>>
  /** Tokenized shares in the order of `ranked`, by id. */
  readonly stocks: ReadonlyMap<string, RankedStock>
  /** Index over `ranked`, by position. */
  readonly text: TextIndex
  readonly view: MarketView
  readonly itemOf: (listing: Listing) => AssetItem
  readonly stockItemOf: (stock: RankedStock) => StockItem
}

type Groups = ReadonlyMap<string, ReadonlyArray<Listing>>

/** Does `each` for every item, and lets others run after every slice. */
const inSlices = <A>(items: ReadonlyArray<A>, each: (item: A, position: number) => void): Effect.Effect<void> =>
  Effect.gen(function* () {
    for (let first = 0; first < items.length; first += sliceSize) {
      const end = Math.min(first + sliceSize, items.length)
      for (let position = first; position < end; position += 1) each(items[position]!, position)
      yield* Effect.yieldNow
    }
  })

/** Groups listings by a key, in the order in which they are added. */
const groupsBuilder = () => {
  const groups = new Map<string, Array<Listing>>()
  const add = (key: string, listing: Listing): void => {
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [listing])
    else group.push(listing)
  }
  return { add, done: (): Groups => groups }
}

interface Rankable {
  readonly listing: Listing
  readonly cap: number
  readonly symbol: string
}

const byRank = (a: Rankable, b: Rankable): number =>
  b.cap - a.cap || (a.symbol < b.symbol ? -1 : a.symbol > b.symbol ? 1 : a.listing.assetId < b.listing.assetId ? -1 : 1)

/** Ranks listings. Sorting is one slice: on the previous order, which is nearly right, it is one pass. */
const rank = Effect.fnUntraced(function* (listings: ReadonlyArray<Listing>, view: MarketView) {
  const rankable: Array<Rankable> = []
  yield* inSlices(listings, (listing) =>
    rankable.push({ listing, cap: view.capOf(listing) ?? -1, symbol: listing.ticker ?? listing.asset.symbol })
  )
  return rankable.sort(byRank).map(({ listing }) => listing)
})

/** What depends on the listings and their order alone. */
interface Ordered {
  readonly ranked: ReadonlyArray<Listing>
  readonly byId: ReadonlyMap<string, Listing>
  readonly byAddress: Groups
  readonly byIssuer: Groups
  readonly byExposure: Groups
  readonly byCategory: Groups
  readonly text: TextIndex
}

const makeOrdered = Effect.fnUntraced(function* (ranked: ReadonlyArray<Listing>) {
  const byId = new Map<string, Listing>()
  const [byAddress, byIssuer] = [groupsBuilder(), groupsBuilder()]
  const [byExposure, byCategory] = [groupsBuilder(), groupsBuilder()]
  const text = textIndexBuilder()
  yield* inSlices(ranked, (listing) => {
    const { address, asset, assetId, exposureSlugs, taxonomy, ticker } = listing
    byId.set(assetId, listing)
    byAddress.add(address.toLowerCase(), listing)
    if (asset.issuer !== null) byIssuer.add(asset.issuer, listing)
    for (const slug of exposureSlugs) byExposure.add(slug, listing)
    for (const category of taxonomy.exposureCategories) byCategory.add(category, listing)
    text.add({
      symbols: [...new Set([folded(asset.symbol), ...(ticker === null ? [] : [folded(ticker)])])],
      name: folded(asset.name)
    })
  })
  return {
    ranked,
    byId,
    byAddress: byAddress.done(),
    byIssuer: byIssuer.done(),
    byExposure: byExposure.done(),
    byCategory: byCategory.done(),
    text: text.done()
  } satisfies Ordered
})

const hasOrder = (ranked: ReadonlyArray<Listing>, { ranked: before }: Ordered): boolean =>
  ranked.length === before.length && ranked.every((listing, position) => listing === before[position])

/** Rows are made when they are first shown. */
const rowsOf = (view: MarketView) => {
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
  return { itemOf, stockItemOf }
}

/** `before` is the last snapshot, if there was one. */
export const makeSnapshot = Effect.fnUntraced(function* (
  listings: ReadonlyArray<Listing>,
  view: MarketView,
  before?: AssetSnapshot
) {
  const ranked = yield* rank(listings, view)
  const ordered: Ordered = before !== undefined && hasOrder(ranked, before) ? before : yield* makeOrdered(ranked)
  const stocks = new Map<string, RankedStock>()
  yield* inSlices(ordered.ranked, (listing) => {
    if (listing.ticker !== null) stocks.set(listing.assetId, { listing, tags: tagsOf(listing, view) })
  })
  const { byAddress, byCategory, byExposure, byId, byIssuer, text } = ordered
  const snapshot: AssetSnapshot = {
    ranked: ordered.ranked,
    byId,
    byAddress,
    byIssuer,
    byExposure,
    byCategory,
    stocks,
    text,
    view,
    ...rowsOf(view)
  }
  return snapshot
})
