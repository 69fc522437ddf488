/**
 * Contract: the market of coins, without authentication. Source: interface "Public crypto market data procedures";
 * shapes S; docs/decisions/0121.
 */
import { Schema } from "effect"
import { RpcGroup } from "effect/rpc"
import { integer } from "#domain/mandate/RebalancePolicy.ts"
import { CacheState } from "#domain/marketData/CacheState.ts"
import * as Datasets from "#domain/marketData/coinDatasets.ts"
import { encodedOnce } from "#rpc/encodedOnce.ts"
import { publicRead } from "#rpc/publicProcedure.ts"

export const defaultLimit = 8
const limit = Schema.optionalKey(integer(1, 20, "Items"))
const limited = { limit }

const CoinId = Schema.String.check(
  Schema.isPattern(/^[A-Za-z0-9._-]{1,128}$/u, { expected: "the id of a coin at CoinGecko" })
).annotate({ examples: ["bitcoin"] })

/** `configured`: whether the deployment has access to a source of this; without one the rest is empty. */
const envelope = { configured: Schema.Boolean, cache: CacheState }
const items = <S extends Schema.Constraint>(item: S) => Schema.Struct({ ...envelope, items: Schema.Array(item) })
const data = <S extends Schema.Constraint>(value: S) => Schema.Struct({ ...envelope, data: value })

const {
  sparkline24h: _line,
  updatedAt: _at,
  priceChangePercentage1h,
  priceChangePercentage7d,
  ...quote
} = Datasets.CoinMarket.fields
const Quote = encodedOnce(Schema.Struct(quote))
const Mover = encodedOnce(Schema.Struct({ ...quote, priceChangePercentage1h, priceChangePercentage7d }))

const Platform = Schema.Struct({
  ...Datasets.AssetPlatform.fields,
  chainNamespace: Schema.NullOr(Schema.String),
  chainReference: Schema.NullOr(Schema.String),
  assetNamespace: Schema.NullOr(Schema.String),
  caipChainId: Schema.NullOr(Schema.String)
})

const Themes = Schema.Struct({
  best: Schema.NullOr(Datasets.MarketCategory),
  worst: Schema.NullOr(Datasets.MarketCategory),
  defi: Schema.NullOr(Datasets.DefiMarket)
})

export const CryptoMarketDataProcedures = RpcGroup.make(
  publicRead("cryptoMarketData.getNews", { payload: limited, success: items(Datasets.NewsArticle) }),
  publicRead("cryptoMarketData.getMarketQuotes", {
    payload: { coinIds: Schema.Array(CoinId).check(Schema.isMinLength(1), Schema.isMaxLength(100)) },
    success: Schema.Struct({ ...envelope, items: Schema.Array(Quote), missingCoinIds: Schema.Array(Schema.String) })
  }),
  publicRead("cryptoMarketData.getGlobal", { success: data(Schema.NullOr(Datasets.GlobalMarket)) }),
  publicRead("cryptoMarketData.getMarketThemes", { success: data(Schema.NullOr(Themes)) }),
  publicRead("cryptoMarketData.getTrending", { payload: limited, success: data(Datasets.Trending) }),
  publicRead("cryptoMarketData.getTopMovers", {
    payload: limited,
    success: data(Schema.Struct({ gainers: Schema.Array(Mover), losers: Schema.Array(Mover) }))
  }),
  publicRead("cryptoMarketData.getAssetPlatforms", { success: items(Platform) }),
  publicRead("cryptoMarketData.getCoinCategories", { success: items(Datasets.NamedCategory) })
)
