/**
 * One asset in full, overlays for many, and candles. Source: interface "Public asset procedures"; docs/decisions/0122.
 */
import { Clock, Context, Effect, Layer } from "effect"
import { NotFound } from "#domain/errors/Errors.ts"
import { AssetIndex } from "#domain/listing/AssetIndex.ts"
import type { AssetSnapshot, RankedStock } from "#domain/listing/AssetSnapshot.ts"
import { type AssetKey, normalizeKey } from "#domain/listing/AssetKey.ts"
import type {
  AssetItem,
  EquityDetails,
  MarketFigures,
  ProviderExtensions,
  Taxonomy,
  TradingOverlay
} from "#domain/listing/AssetModels.ts"
import { equityDetailsOf } from "#domain/listing/equityDetails.ts"
import { IssuerPolicies } from "#domain/listing/IssuerPolicies.ts"
import { type CacheState, cacheState, provenanceOf } from "#domain/marketData/CacheState.ts"
import { type Candle, type CandleSpan, coinCandles, stockCandles } from "#domain/marketData/coinDatasets.ts"
import type { Fetched } from "#domain/marketData/Dataset.ts"
import { MarketDataAccess } from "#domain/marketData/MarketDataAccess.ts"
import { MarketDataCache } from "#domain/marketData/MarketDataCache.ts"

export const candleRanges = ["1d", "1w", "1m", "1y"] as const
export type CandleRange = (typeof candleRanges)[number]

const day = 86_400_000
const spanOf = { "1d": "day", "1w": "month", "1m": "month", "1y": "year" } as const satisfies Record<
  CandleRange,
  CandleSpan
>
const lengthOf = { "1d": null, "1w": 7 * day, "1m": null, "1y": null } as const satisfies Record<
  CandleRange,
  number | null
>

const make = Effect.gen(function* () {
  const index = yield* AssetIndex
  const issuers = yield* IssuerPolicies
  const cache = yield* MarketDataCache
  const access = yield* MarketDataAccess

  const require = (snapshot: AssetSnapshot, assetId: AssetKey) => {
    const listing = snapshot.byId.get(assetId)
    return listing === undefined
      ? Effect.fail(
          new NotFound({ message: `No asset ${assetId} is listed here; search for one with assets.searchForTokens` })
        )
      : Effect.succeed(listing)
  }

  const detailsOf = ({ view }: AssetSnapshot, stock: RankedStock | undefined) =>
    stock === undefined ? null : equityDetailsOf(stock, view, issuers)

  const overlayOf = (snapshot: AssetSnapshot, { listing, tags }: RankedStock) => {
    const { view } = snapshot
    const { navPriceUsd, pausedFeatures } = view.extensionsOf(listing)
    const { issuer } = listing.asset
    return {
      issuerSlug: issuer ?? "",
      ticker: listing.ticker!,
      tags: [...tags.type, ...tags.sector, ...tags.style, ...tags.cap, ...tags.region],
      marketStatus: view.marketStatus,
      sharePriceUsd: view.quoteOf(listing.ticker!)?.priceUsd ?? null,
      navPriceUsd,
      isPaused: pausedFeatures.length > 0,
      sparkline24h: view.lineOf(listing.ticker!)
    }
  }

  return {
    details: Effect.fnUntraced(function* (assetId: AssetKey) {
      const snapshot = index.current()
      const listing = yield* require(snapshot, assetId)
      const stock = snapshot.stocks.get(assetId)
      const { marketData, metadata, taxonomy } = snapshot.itemOf(listing)
      return {
        assetId,
        marketData: { ...marketData, trading: stock === undefined ? null : overlayOf(snapshot, stock) },
        metadata,
        taxonomy,
        equityDetails: detailsOf(snapshot, stock),
        isVerifiedByGlider: listing.asset.subject !== null
      }
    }),

    overlays: (assetIds: ReadonlyArray<string>) => {
      const snapshot = index.current()
      return {
        items: assetIds.map((sent) => {
          const key = normalizeKey(sent)
          const stock = key === undefined ? undefined : snapshot.stocks.get(key)
          return {
            assetId: sent,
            taxonomy: stock?.listing.taxonomy ?? null,
            equityDetails: detailsOf(snapshot, stock),
            providerExtensions: stock === undefined ? null : snapshot.view.extensionsOf(stock.listing)
          }
        })
      }
    },

    timeSeries: Effect.fnUntraced(function* (assetId: AssetKey, range: CandleRange) {
      const { coinId, ticker } = yield* require(index.current(), assetId)
      const now = yield* Clock.currentTimeMillis
      const span = spanOf[range]
      const fetched: Fetched<ReadonlyArray<Candle>> | undefined =
        ticker !== null
          ? cache.get(stockCandles(span), ticker)
          : coinId === null
            ? undefined
            : cache.get(coinCandles(span), coinId)
      const length = lengthOf[range]
      const candles = (fetched?.data ?? []).filter(({ timestamp }) => length === null || timestamp >= now - length)
      return {
        assetId,
        range,
        configured: ticker !== null ? access.massive : coinId !== null && access.coinGecko !== "none",
        basis: ticker !== null ? ("share" as const) : coinId === null ? null : ("coin" as const),
        candles,
        cache: cacheState(provenanceOf([fetched]), now)
      }
    })
  }
})

interface AssetDetails extends Omit<AssetItem, "marketData"> {
  readonly marketData: MarketFigures & { readonly trading: typeof TradingOverlay.Type | null }
  readonly equityDetails: EquityDetails | null
  readonly isVerifiedByGlider: boolean
}

interface AssetOverlay {
  /** Id as the client sent it. */
  readonly assetId: string
  readonly taxonomy: Taxonomy | null
  readonly equityDetails: EquityDetails | null
  readonly providerExtensions: ProviderExtensions | null
}

interface TimeSeries {
  readonly assetId: AssetKey
  readonly range: CandleRange
  /** Whether this deployment has a source of the candles. */
  readonly configured: boolean
  /** Subject of the candles: the share behind the token, or the coin. */
  readonly basis: "share" | "coin" | null
  readonly candles: ReadonlyArray<Candle>
  readonly cache: CacheState
}

/**
 * One asset in full.
 *
 * **When to use**
 *
 * Use in public procedures about assets that the client names. Lists are `AssetBrowsing` and `AssetSearch`.
 */
export class AssetProfiles extends Context.Service<
  AssetProfiles,
  {
    readonly details: (assetId: AssetKey) => Effect.Effect<AssetDetails, NotFound>
    /** A row for each id that was sent, in that order and as it was written; what is not known has an empty one. */
    readonly overlays: (assetIds: ReadonlyArray<string>) => { readonly items: ReadonlyArray<AssetOverlay> }
    readonly timeSeries: (assetId: AssetKey, range: CandleRange) => Effect.Effect<TimeSeries, NotFound>
  }
>()("ballast/domain/listing/AssetProfiles") {
  static readonly layer = Layer.effect(AssetProfiles, make)
}
