/**
 * What CoinGecko answers, as far as it is used. Only what names an item is required; every figure may be missing or
 * null, and unknown fields are passed over. Source: CoinGecko API v3.
 */
import { DateTime, Option, Schema } from "effect"
import type {
  AssetPlatform,
  Candle,
  CoinMarket,
  MarketCategory,
  NewsArticle,
  TrendingCategory,
  TrendingCoin
} from "#domain/marketData/coinDatasets.ts"
import { figureOf, priceOf } from "#domain/marketData/Figure.ts"

const Maybe = Schema.optionalKey(Schema.Unknown)

export const textOf = (value: unknown): string | null => (typeof value === "string" && value !== "" ? value : null)
export const wholeOf = (value: unknown): number | null => {
  const number = typeof value === "string" && /^[0-9]{1,15}$/u.test(value) ? Number(value) : value
  return typeof number === "number" && Number.isSafeInteger(number) ? number : null
}
/** ISO 8601, of a time in that form or in UNIX seconds. */
export const timeOf = (value: unknown): string | null => {
  if (typeof value !== "string" && typeof value !== "number") return null
  const time = DateTime.make(typeof value === "number" ? value * 1000 : value)
  return Option.getOrNull(Option.map(time, DateTime.formatIso))
}
/** Links to pages and pictures that a page may show: https alone. */
export const linkOf = (value: unknown): string | null =>
  typeof value === "string" && URL.canParse(value) && new URL(value).protocol === "https:" ? value : null

const at = (value: unknown, ...path: ReadonlyArray<string>): unknown =>
  path.reduce<unknown>(
    (inner, key) => (typeof inner === "object" && inner !== null ? (inner as Record<string, unknown>)[key] : undefined),
    value
  )

const hour = 3_600_000
const hoursOfDay = 24

export const CoinRow = Schema.Struct({
  id: Schema.NonEmptyString,
  symbol: Schema.NonEmptyString,
  name: Schema.NonEmptyString,
  image: Maybe,
  current_price: Maybe,
  market_cap: Maybe,
  market_cap_rank: Maybe,
  total_volume: Maybe,
  price_change_percentage_1h_in_currency: Maybe,
  price_change_percentage_24h_in_currency: Maybe,
  price_change_percentage_24h: Maybe,
  price_change_percentage_7d_in_currency: Maybe,
  last_updated: Maybe,
  sparkline_in_7d: Maybe
})

/** The last day of a line with a point an hour, which CoinGecko writes without times and ends at the last update. */
const lastDay = (line: unknown, endsAt: string | null): CoinMarket["sparkline24h"] => {
  if (!Array.isArray(line) || endsAt === null) return []
  const end = DateTime.makeUnsafe(endsAt).epochMilliseconds
  const last = Math.floor(end / hour) * hour
  const points = line.slice(-hoursOfDay)
  return points.flatMap((value, index) => {
    const price = priceOf(value)
    return price === null ? [] : [{ timestamp: last - (points.length - 1 - index) * hour, value: price }]
  })
}

export const toCoin = (row: typeof CoinRow.Type): CoinMarket => {
  const updatedAt = timeOf(row.last_updated)
  return {
    coinId: row.id,
    symbol: row.symbol.toUpperCase(),
    name: row.name,
    iconUrl: linkOf(row.image),
    priceUsd: priceOf(row.current_price),
    priceChangePercentage1h: figureOf(row.price_change_percentage_1h_in_currency),
    priceChangePercentage24h:
      figureOf(row.price_change_percentage_24h_in_currency) ?? figureOf(row.price_change_percentage_24h),
    priceChangePercentage7d: figureOf(row.price_change_percentage_7d_in_currency),
    marketCapUsd: priceOf(row.market_cap),
    volume24hUsd: figureOf(row.total_volume),
    marketCapRank: wholeOf(row.market_cap_rank),
    updatedAt,
    sparkline24h: lastDay(at(row.sparkline_in_7d, "price"), updatedAt)
  }
}

export const GlobalAnswer = Schema.Struct({ data: Schema.Record(Schema.String, Schema.Unknown) })

export const toGlobal = ({ data }: typeof GlobalAnswer.Type) => ({
  totalMarketCapUsd: figureOf(at(data, "total_market_cap", "usd")),
  marketCapChangePercentage24h: figureOf(data["market_cap_change_percentage_24h_usd"]),
  totalVolume24hUsd: figureOf(at(data, "total_volume", "usd")),
  btcDominancePercentage: figureOf(at(data, "market_cap_percentage", "btc")),
  ethDominancePercentage: figureOf(at(data, "market_cap_percentage", "eth")),
  updatedAt: timeOf(data["updated_at"])
})

export const toDefi = ({ data }: typeof GlobalAnswer.Type) => ({
  marketCapUsd: figureOf(data["defi_market_cap"]),
  dominancePercentage: figureOf(data["defi_dominance"]),
  defiToEthRatio: figureOf(data["defi_to_eth_ratio"]),
  volume24hUsd: figureOf(data["trading_volume_24h"]),
  topCoinName: textOf(data["top_coin_name"])
})

export const CategoryRow = Schema.Struct({
  id: Schema.NonEmptyString,
  name: Schema.NonEmptyString,
  market_cap: Maybe,
  market_cap_change_24h: Maybe,
  volume_24h: Maybe
})
export const toCategory = (row: typeof CategoryRow.Type): MarketCategory => ({
  id: row.id,
  name: row.name,
  marketCapUsd: priceOf(row.market_cap),
  marketCapChangePercentage24h: figureOf(row.market_cap_change_24h),
  volume24hUsd: figureOf(row.volume_24h)
})

export const NamedCategoryRow = Schema.Struct({ category_id: Schema.NonEmptyString, name: Schema.NonEmptyString })

export const TrendingAnswer = Schema.Struct({
  coins: Schema.Array(Schema.Unknown),
  categories: Schema.optionalKey(Schema.Array(Schema.Unknown))
})
export const TrendingCoinRow = Schema.Struct({
  item: Schema.Struct({
    id: Schema.NonEmptyString,
    name: Schema.NonEmptyString,
    symbol: Schema.NonEmptyString,
    market_cap_rank: Maybe,
    large: Maybe,
    data: Maybe
  })
})
export const toTrendingCoin = ({ item }: typeof TrendingCoinRow.Type): typeof TrendingCoin.Type => ({
  coinId: item.id,
  symbol: item.symbol.toUpperCase(),
  name: item.name,
  iconUrl: linkOf(item.large),
  priceUsd: priceOf(at(item.data, "price")),
  priceChangePercentage24h: figureOf(at(item.data, "price_change_percentage_24h", "usd")),
  marketCapRank: wholeOf(item.market_cap_rank)
})
export const TrendingCategoryRow = Schema.Struct({
  name: Schema.NonEmptyString,
  slug: Schema.NonEmptyString,
  coins_count: Maybe,
  data: Maybe
})
export const toTrendingCategory = (row: typeof TrendingCategoryRow.Type): typeof TrendingCategory.Type => ({
  id: row.slug,
  name: row.name,
  coinsCount: wholeOf(row.coins_count),
  marketCapUsd: priceOf(at(row.data, "market_cap")),
  marketCapChangePercentage24h: figureOf(at(row.data, "market_cap_change_percentage_24h", "usd"))
})

export const PlatformRow = Schema.Struct({
  id: Schema.NonEmptyString,
  name: Schema.NonEmptyString,
  chain_identifier: Maybe,
  native_coin_id: Maybe,
  image: Maybe
})
export const toPlatform = (row: typeof PlatformRow.Type): typeof AssetPlatform.Type => ({
  id: row.id,
  name: row.name,
  chainIdentifier: wholeOf(row.chain_identifier),
  nativeCoinId: textOf(row.native_coin_id),
  iconUrl: linkOf(at(row.image, "large"))
})

export const NewsRow = Schema.Struct({
  title: Schema.NonEmptyString,
  url: Schema.NonEmptyString,
  image: Maybe,
  author: Maybe,
  posted_at: Maybe,
  source_name: Maybe,
  related_coin_ids: Maybe
})
/**
 * Articles have no id of their own; the address of one is unique. An article that does not lead to https is left out.
 */
export const toArticle = (row: typeof NewsRow.Type): typeof NewsArticle.Type | undefined => {
  const url = linkOf(row.url)
  if (url === null) return undefined
  return {
    id: url,
    title: row.title,
    url,
    excerpt: null,
    imageUrl: linkOf(row.image),
    source: textOf(row.source_name),
    author: textOf(row.author),
    publishedAt: timeOf(row.posted_at),
    relatedCoinIds: Array.isArray(row.related_coin_ids)
      ? row.related_coin_ids.filter((id): id is string => typeof id === "string").slice(0, 50)
      : []
  }
}

/** `[ms, open, high, low, close]`. */
export const OhlcRow = Schema.Tuple([Schema.Int, Schema.Finite, Schema.Finite, Schema.Finite, Schema.Finite])
export const toCandle = ([timestamp, open, high, low, close]: typeof OhlcRow.Type): Candle | undefined => {
  const [o, h, l, c] = [priceOf(open), priceOf(high), priceOf(low), priceOf(close)]
  if (o === null || h === null || l === null || c === null) return undefined
  return { timestamp, open: o, high: h, low: l, close: c, volume: null }
}

export const TokenPriceRow = Schema.Struct({
  usd: Schema.Finite,
  usd_market_cap: Maybe,
  usd_24h_vol: Maybe,
  usd_24h_change: Maybe,
  last_updated_at: Maybe
})
