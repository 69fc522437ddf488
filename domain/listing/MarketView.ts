/** The market data of listings, out of the shared cache as it is at one moment. */
import { DateTime } from "effect"
import type { ChainId } from "#domain/values/Caip.ts"
import * as Decimal from "#domain/values/Decimal.ts"
import type { MarketFigures, ProviderExtensions } from "#domain/listing/AssetModels.ts"
import type { Listing } from "#domain/listing/Listing.ts"
import {
  type Candle,
  coinMarkets,
  type CoinMarket,
  type LinePoint,
  listedPage,
  stockCandles,
  type TokenMarket,
  tokenMarkets,
  topPages
} from "#domain/marketData/coinDatasets.ts"
import type { Fetched } from "#domain/marketData/Dataset.ts"
import { figure } from "#domain/marketData/Figure.ts"
import type { MarketDataCache } from "#domain/marketData/MarketDataCache.ts"
import {
  type Dividend,
  issuedByCoinbase,
  issuedByXStocks,
  type IssuedMultiplier,
  type IssuedToken,
  type MarketStatus,
  multipliersOfXStocks,
  type StockDetail,
  stockDetails,
  stockDividends,
  stockMarketStatus,
  type StockQuote,
  stockQuotes
} from "#domain/marketData/stockDatasets.ts"

/** Points of a day's line: one in 15 minutes. */
const linePoints = 96

type Aged<A> = { readonly value: A; readonly of: Fetched<unknown> }

const byKey = <A>(
  parts: ReadonlyArray<Fetched<ReadonlyArray<A>> | undefined>,
  keyOf: (item: A) => string
): ReadonlyMap<string, Aged<A>> =>
  new Map(
    parts.flatMap((part) => (part === undefined ? [] : part.data.map((value) => [keyOf(value), { value, of: part }])))
  )

/** Members of a kind that is numbered from zero. */
const numbered = <A>(get: (key: string) => Fetched<A> | undefined, prefixes: ReadonlyArray<string>) =>
  prefixes.flatMap((prefix) => {
    const parts: Array<Fetched<A>> = []
    // A hole is a request that never succeeded; those after it may have.
    for (let index = 0, missing = 0; missing < 8; index += 1) {
      const part = get(`${prefix}${index}`)
      if (part === undefined) missing += 1
      else parts.push(part)
    }
    return parts
  })

const toLine = (candles: ReadonlyArray<Candle>): ReadonlyArray<LinePoint> => {
  const step = Math.max(1, Math.ceil(candles.length / linePoints))
  return candles
    .filter((_, index) => (candles.length - 1 - index) % step === 0)
    .map(({ close, timestamp }) => ({ timestamp, value: close }))
}

const unknown: MarketFigures = {
  priceUsd: null,
  priceBasis: null,
  change1hPct: null,
  change24hPct: null,
  volume24hUsd: null,
  marketCapUsd: null,
  liquidityUsd: null,
  sparkline24h: [],
  source: null,
  updatedAt: null,
  stale: true
}

const multiplied = (price: string, times: string | null): string | null => {
  if (times === null) return null
  const [a, b] = [Decimal.parse(price), Decimal.parse(times)]
  return a === undefined || b === undefined ? null : figure((a * b) / Decimal.one)
}

/** An announced multiplier counts from its time on, whether or not the issuer's data was read since. */
const multiplierAt = ({ multiplier, next }: IssuedMultiplier, now: number): string | null =>
  next !== null && now >= DateTime.makeUnsafe(next.from).epochMilliseconds ? next.multiplier : multiplier

/** What is known of listings at one moment; null or undefined where no source gives it. */
export interface MarketView {
  /** UNIX milliseconds at which the view was made. */
  readonly now: number
  /** `madeAtMillis` in ISO 8601. */
  readonly madeAt: string
  readonly marketStatus: typeof MarketStatus.Type | null
  /**
   * Figures of a token by its contract; for a token of a coin by the coin, for one of a share by the share, where both
   * are one thing.
   */
  readonly marketDataOf: (listing: Listing) => MarketFigures
  readonly extensionsOf: (listing: Listing) => ProviderExtensions
  /** What listings are ranked by: market capitalisation in US dollars, of the company for a share's token. */
  readonly capOf: (listing: Listing) => number | null
  /** The last day of a share, a point in 15 minutes. */
  readonly lineOf: (ticker: string) => ReadonlyArray<LinePoint>
  readonly quoteOf: (ticker: string) => StockQuote | undefined
  readonly detailsOf: (ticker: string) => StockDetail | undefined
  readonly dividendsOf: (ticker: string) => ReadonlyArray<typeof Dividend.Type>
  readonly issuedOf: (assetId: string) => IssuedToken | undefined
  readonly logoOf: (listing: Listing) => string | null
}

export const makeMarketView = (
  cache: MarketDataCache["Service"],
  chainIds: ReadonlyArray<ChainId>,
  now: number
): MarketView => {
  const pages = [...topPages, listedPage].map((page) => cache.get(coinMarkets, page))
  const coins = byKey<CoinMarket>(pages.toReversed(), ({ coinId }) => coinId)
  const tokens = byKey<TokenMarket>(
    numbered(
      (key) => cache.get(tokenMarkets, key),
      chainIds.map((chainId) => `${chainId}-`)
    ),
    ({ assetId }) => assetId
  )
  const quotes = byKey(
    numbered((key) => cache.get(stockQuotes, key), [""]),
    ({ ticker }) => ticker
  )
  const issued = byKey<IssuedToken>(
    [cache.get(issuedByCoinbase), ...numbered((key) => cache.get(issuedByXStocks, key), [""])],
    ({ assetId }) => assetId
  )
  const multipliers = new Map(
    numbered((key) => cache.get(multipliersOfXStocks, key), [""]).map((part) => [part.data.assetId, part])
  )
  const status = cache.get(stockMarketStatus)

  const isStale = ({ expiresAt }: Fetched<unknown>) => now >= expiresAt.epochMilliseconds
  const lineOf = (ticker: string) => toLine(cache.get(stockCandles("day"), ticker)?.data ?? [])
  const detailsOf = (ticker: string) => cache.get(stockDetails, ticker)?.data

  const extensionsOf = ({ asset, assetId }: Listing): ProviderExtensions => {
    const said = issued.get(assetId)
    const scale = multipliers.get(assetId)
    return {
      unitModel: asset.unitModel ?? "plain",
      multiplier:
        said?.value.multiplier ??
        (scale === undefined ? null : multiplierAt(scale.data, now)) ??
        (asset.unitModel === "plain" || asset.unitModel === "rebasing" ? "1" : null),
      navPriceUsd: said?.value.navPriceUsd ?? null,
      navUpdatedAt: said?.value.navUpdatedAt ?? null,
      pausedFeatures: said?.value.pausedFeatures ?? [],
      source: said?.of.provider ?? scale?.provider ?? null
    }
  }

  const marketDataOf = (listing: Listing): MarketFigures => {
    const { assetId, coinId, ticker } = listing
    const token = tokens.get(assetId)
    const coin = coinId === null ? undefined : coins.get(coinId)
    const quote = ticker === null ? undefined : quotes.get(ticker)
    const sparkline24h = coin?.value.sparkline24h ?? (ticker === null ? [] : lineOf(ticker))
    const marketCapUsd = coin?.value.marketCapUsd ?? token?.value.marketCapUsd ?? null
    if (token !== undefined) {
      const { priceChangePercentage24h, priceUsd, updatedAt, volume24hUsd } = token.value
      return {
        ...unknown,
        priceUsd,
        priceBasis: "token",
        change1hPct: coin?.value.priceChangePercentage1h ?? null,
        change24hPct: priceChangePercentage24h,
        volume24hUsd,
        marketCapUsd,
        sparkline24h,
        source: token.of.provider,
        updatedAt,
        stale: isStale(token.of)
      }
    }
    if (coin !== undefined) {
      const { priceChangePercentage1h, priceChangePercentage24h, priceUsd, updatedAt, volume24hUsd } = coin.value
      return {
        ...unknown,
        priceUsd,
        priceBasis: priceUsd === null ? null : "coin",
        change1hPct: priceChangePercentage1h,
        change24hPct: priceChangePercentage24h,
        volume24hUsd,
        marketCapUsd,
        sparkline24h,
        source: coin.of.provider,
        updatedAt,
        stale: isStale(coin.of)
      }
    }
    if (quote === undefined) return { ...unknown, sparkline24h }
    const { changePercentage24h, priceUsd: sharePrice, updatedAt } = quote.value
    const priceUsd = sharePrice === null ? null : multiplied(sharePrice, extensionsOf(listing).multiplier)
    return {
      ...unknown,
      priceUsd,
      priceBasis: priceUsd === null ? null : "share",
      change24hPct: changePercentage24h,
      sparkline24h,
      source: quote.of.provider,
      updatedAt,
      stale: isStale(quote.of)
    }
  }

  const capOf = ({ assetId, coinId, ticker }: Listing): number | null => {
    const cap =
      ticker === null
        ? ((coinId === null ? undefined : coins.get(coinId)?.value.marketCapUsd) ??
          tokens.get(assetId)?.value.marketCapUsd)
        : detailsOf(ticker)?.marketCapUsd
    return cap === undefined || cap === null ? null : Number(cap)
  }

  return {
    now,
    marketStatus: status === undefined ? null : status.data.status,
    marketDataOf,
    extensionsOf,
    capOf,
    lineOf,
    quoteOf: (ticker: string) => quotes.get(ticker)?.value,
    detailsOf,
    dividendsOf: (ticker: string) => cache.get(stockDividends, ticker)?.data ?? [],
    issuedOf: (assetId: string) => issued.get(assetId)?.value,
    logoOf: ({ assetId, coinId }: Listing): string | null =>
      (coinId === null ? undefined : coins.get(coinId)?.value.iconUrl) ?? issued.get(assetId)?.value.iconUrl ?? null,
    madeAt: DateTime.formatIso(DateTime.makeUnsafe(now))
  }
}
