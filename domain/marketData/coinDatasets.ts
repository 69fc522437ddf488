/** What is kept of coins and their market. Field names are those of the procedures, docs/decisions/0121. */
import { Duration, Schema } from "effect"
import { dataset, refreshInterval } from "#domain/marketData/Dataset.ts"
import { Figure, MaybeFigure } from "#domain/marketData/Figure.ts"

const MaybeText = Schema.NullOr(Schema.String)

/** A point of a line: milliseconds since 1970, and a price. */
export const LinePoint = Schema.Struct({ timestamp: Schema.Int, value: Figure })
export type LinePoint = typeof LinePoint.Type

export const CoinMarket = Schema.Struct({
  coinId: Schema.String,
  symbol: Schema.String,
  name: Schema.String,
  iconUrl: MaybeText,
  priceUsd: MaybeFigure,
  priceChangePercentage1h: MaybeFigure,
  priceChangePercentage24h: MaybeFigure,
  priceChangePercentage7d: MaybeFigure,
  marketCapUsd: MaybeFigure,
  volume24hUsd: MaybeFigure,
  marketCapRank: Schema.NullOr(Schema.Int),
  updatedAt: MaybeText,
  sparkline24h: Schema.Array(LinePoint)
})
export type CoinMarket = typeof CoinMarket.Type

export const GlobalMarket = Schema.Struct({
  totalMarketCapUsd: MaybeFigure,
  marketCapChangePercentage24h: MaybeFigure,
  totalVolume24hUsd: MaybeFigure,
  btcDominancePercentage: MaybeFigure,
  ethDominancePercentage: MaybeFigure,
  updatedAt: MaybeText
})

export const DefiMarket = Schema.Struct({
  marketCapUsd: MaybeFigure,
  dominancePercentage: MaybeFigure,
  defiToEthRatio: MaybeFigure,
  volume24hUsd: MaybeFigure,
  topCoinName: MaybeText
})

export const MarketCategory = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  marketCapUsd: MaybeFigure,
  marketCapChangePercentage24h: MaybeFigure,
  volume24hUsd: MaybeFigure
})
export type MarketCategory = typeof MarketCategory.Type

export const NamedCategory = Schema.Struct({ id: Schema.String, name: Schema.String })

export const TrendingCoin = Schema.Struct({
  coinId: Schema.String,
  symbol: Schema.String,
  name: Schema.String,
  iconUrl: MaybeText,
  priceUsd: MaybeFigure,
  priceChangePercentage24h: MaybeFigure,
  marketCapRank: Schema.NullOr(Schema.Int)
})

export const TrendingCategory = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  coinsCount: Schema.NullOr(Schema.Int),
  marketCapUsd: MaybeFigure,
  marketCapChangePercentage24h: MaybeFigure
})

export const Trending = Schema.Struct({
  coins: Schema.Array(TrendingCoin),
  categories: Schema.Array(TrendingCategory)
})

export const AssetPlatform = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  chainIdentifier: Schema.NullOr(Schema.Int),
  nativeCoinId: MaybeText,
  iconUrl: MaybeText
})

export const NewsArticle = Schema.Struct({
  id: Schema.String,
  title: Schema.String,
  url: Schema.String,
  excerpt: MaybeText,
  imageUrl: MaybeText,
  source: MaybeText,
  author: MaybeText,
  publishedAt: MaybeText,
  relatedCoinIds: Schema.Array(Schema.String)
})

/** Pages 1 to 4 of the coins by market capitalisation, 250 each, and `listed`: those of our catalogue beyond them. */
export const coinMarkets = dataset({ name: "coin-markets", provider: "coingecko", schema: Schema.Array(CoinMarket) })
export const topPages = ["1", "2", "3", "4"] as const
export const coinsPerPage = 250
export const listedPage = "listed"

export const globalMarket = dataset({ name: "global-market", provider: "coingecko", schema: GlobalMarket })
export const defiMarket = dataset({ name: "defi-market", provider: "coingecko", schema: DefiMarket })
export const marketCategories = dataset({
  name: "market-categories",
  provider: "coingecko",
  schema: Schema.Array(MarketCategory)
})
export const coinCategories = dataset({
  name: "coin-categories",
  provider: "coingecko",
  schema: Schema.Array(NamedCategory)
})
export const trending = dataset({ name: "trending", provider: "coingecko", schema: Trending })
export const assetPlatforms = dataset({
  name: "asset-platforms",
  provider: "coingecko",
  schema: Schema.Array(AssetPlatform)
})
/** Only plans with a price have news. */
export const news = dataset({ name: "news", provider: "coingecko", schema: Schema.Array(NewsArticle) })

/** Prices of tokens by contract, as `<address>:<chainId>`; a member for each request that it takes. */
export const TokenMarket = Schema.Struct({
  assetId: Schema.String,
  priceUsd: Figure,
  priceChangePercentage24h: MaybeFigure,
  marketCapUsd: MaybeFigure,
  volume24hUsd: MaybeFigure,
  updatedAt: MaybeText
})
export type TokenMarket = typeof TokenMarket.Type
export const tokenMarkets = dataset({ name: "token-markets", provider: "coingecko", schema: Schema.Array(TokenMarket) })

export const Candle = Schema.Struct({
  /** Milliseconds since 1970 at which the candle begins. */
  timestamp: Schema.Int,
  open: Figure,
  high: Figure,
  low: Figure,
  close: Figure,
  /** Null where the provider gives none. */
  volume: MaybeFigure
})
export type Candle = typeof Candle.Type

/** How far back candles reach, how long one is, and how often they are fetched. */
export const candleSpans = ["day", "month", "year"] as const
export type CandleSpan = (typeof candleSpans)[number]

const candleIntervals = {
  day: refreshInterval,
  month: Duration.hours(4),
  year: Duration.hours(24)
} as const satisfies Record<CandleSpan, Duration.Duration>

/** Candles of coins by coin id. */
export const coinCandles = (span: CandleSpan) =>
  dataset({
    name: `coin-candles-${span}`,
    provider: "coingecko",
    schema: Schema.Array(Candle),
    interval: candleIntervals[span]
  })

/** Candles of shares by ticker. */
export const stockCandles = (span: CandleSpan) =>
  dataset({
    name: `stock-candles-${span}`,
    provider: "massive",
    schema: Schema.Array(Candle),
    interval: candleIntervals[span]
  })
