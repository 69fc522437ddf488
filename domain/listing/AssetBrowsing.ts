/** Browsing of listed assets and tokenized shares. Source: interface "Public asset procedures"; docs/decisions/0122. */
import { Context, Effect, Layer } from "effect"
import type { ChainId } from "#domain/values/Caip.ts"
import * as Decimal from "#domain/values/Decimal.ts"
import {
  type AssetFilter,
  countTags,
  filtered,
  filteredStocks,
  type ListingPage,
  pageOf,
  type TagCounts,
  type TagFilters,
  withTags
} from "#domain/listing/AssetFilter.ts"
import type { AssetItem, StockItem } from "#domain/listing/AssetModels.ts"
import { AssetIndex } from "#domain/listing/AssetIndex.ts"
import type { RankedStock } from "#domain/listing/AssetSnapshot.ts"
import { normalizeKey } from "#domain/listing/AssetKey.ts"
import { folded } from "#domain/listing/TextIndex.ts"

/** Rows that a page shows before a tag is chosen. */
const previewCount = 8
const featuredCount = 24
const tickerCount = 15

export interface BrowsePage {
  readonly limit: number
  readonly cursor: number
}

/** A filter of shares; a field that is left out filters nothing. */
export interface StockQuery {
  /** Part of a ticker, a symbol or the company's name. */
  readonly search?: string | undefined
  readonly chainId?: ChainId | undefined
}

const matches = ({ listing }: RankedStock, query: string): boolean =>
  [listing.ticker, listing.asset.subject?.name, listing.asset.symbol].some(
    (text) => text !== null && text !== undefined && folded(text).includes(query)
  )

/** One token of each company, the first by rank. */
const onePerCompany = (stocks: Iterable<RankedStock>): ReadonlyArray<RankedStock> => {
  const seen = new Set<string>()
  return [...stocks].filter(({ listing }) => {
    const ticker = listing.ticker!
    if (seen.has(ticker)) return false
    seen.add(ticker)
    return true
  })
}

const make = Effect.gen(function* () {
  const index = yield* AssetIndex

  return {
    browseAssets: (filter: AssetFilter, excludeAssetIds: ReadonlyArray<string>, { cursor, limit }: BrowsePage) => {
      const snapshot = index.current()
      const excluded = new Set(excludeAssetIds.map((id) => normalizeKey(id) ?? id))
      const all = filtered(snapshot, filter)
      const wanted = excluded.size === 0 ? all : all.filter(({ assetId }) => !excluded.has(assetId))
      const { items, nextCursor } = pageOf(wanted, limit, cursor)
      return { items: items.map(snapshot.itemOf), nextCursor }
    },

    stockSnapshot: (filter: AssetFilter) => {
      const snapshot = index.current()
      const items = filteredStocks(snapshot, filter).map(snapshot.stockItemOf)
      return { items, totalCount: items.length, generatedAt: snapshot.view.madeAt }
    },

    browseStocks: (filter: AssetFilter, filters: TagFilters, { cursor, limit }: BrowsePage) => {
      const snapshot = index.current()
      const all = filteredStocks(snapshot, filter)
      const wanted = withTags(all, filters)
      const { items, nextCursor } = pageOf(wanted, limit, cursor)
      return {
        items: items.map(snapshot.stockItemOf),
        nextCursor,
        totalCount: wanted.length,
        previewItems: all.slice(0, previewCount).map(snapshot.stockItemOf),
        availableTags: countTags(all, filters)
      }
    },

    browseStocksForSelection: (filter: AssetFilter, { chainId, search }: StockQuery, { cursor, limit }: BrowsePage) => {
      const snapshot = index.current()
      const query = search === undefined ? "" : search.trim().toLowerCase()
      const all = filteredStocks(snapshot, filter)
      const found = query === "" ? all : all.filter((stock) => matches(stock, query))
      const wanted = chainId === undefined ? found : found.filter(({ listing }) => listing.chainId === chainId)
      const { items, nextCursor } = pageOf(wanted, limit, cursor)
      return {
        items: items.map(snapshot.stockItemOf),
        nextCursor,
        totalCount: wanted.length,
        availableChainIds: [...new Set(found.map(({ listing }) => listing.chainId))].sort((a, b) => a - b)
      }
    },

    stockHighlights: () => {
      const snapshot = index.current()
      const companies = onePerCompany(snapshot.stocks.values())
      const moved = companies.flatMap((stock) => {
        const change = snapshot.view.quoteOf(stock.listing.ticker!)?.changePercentage24h
        const wad = change === undefined || change === null ? undefined : Decimal.parse(change)
        return wad === undefined || wad === 0n ? [] : [{ stock, size: wad < 0n ? -wad : wad }]
      })
      moved.sort((a, b) => (a.size < b.size ? 1 : a.size > b.size ? -1 : 0))
      return {
        featuredItems: companies.slice(0, featuredCount).map(snapshot.stockItemOf),
        tickerItems: moved.slice(0, tickerCount).map(({ stock }) => snapshot.stockItemOf(stock))
      }
    }
  }
})

interface StockSnapshot {
  readonly items: ReadonlyArray<StockItem>
  readonly totalCount: number
  /** ISO 8601. */
  readonly generatedAt: string
}

interface StockPage extends ListingPage<StockItem> {
  /** Count over all pages. */
  readonly totalCount: number
  /** The first ones without the tags that were chosen. */
  readonly previewItems: ReadonlyArray<StockItem>
  readonly availableTags: TagCounts
}

interface StockSelection extends ListingPage<StockItem> {
  /** Count over all pages. */
  readonly totalCount: number
  /** Chains that have a match of the search, whatever chain was chosen. */
  readonly availableChainIds: ReadonlyArray<ChainId>
}

interface StockHighlights {
  /** The largest companies. */
  readonly featuredItems: ReadonlyArray<StockItem>
  /** Those whose shares moved most in the day. */
  readonly tickerItems: ReadonlyArray<StockItem>
}

/**
 * Listed assets in pages.
 *
 * **When to use**
 *
 * Use in public procedures that browse. Text is searched by `AssetSearch`, one asset is shown by `AssetProfiles`.
 *
 * **Details**
 *
 * Reads memory: no request waits for a provider or for the database.
 */
export class AssetBrowsing extends Context.Service<
  AssetBrowsing,
  {
    readonly browseAssets: (
      filter: AssetFilter,
      excludeAssetIds: ReadonlyArray<string>,
      page: BrowsePage
    ) => ListingPage<AssetItem>
    readonly stockSnapshot: (filter: AssetFilter) => StockSnapshot
    readonly browseStocks: (filter: AssetFilter, filters: TagFilters, page: BrowsePage) => StockPage
    readonly browseStocksForSelection: (filter: AssetFilter, wanted: StockQuery, page: BrowsePage) => StockSelection
    readonly stockHighlights: () => StockHighlights
  }
>()("ballast/domain/listing/AssetBrowsing") {
  static readonly layer = Layer.effect(AssetBrowsing, make)
}
