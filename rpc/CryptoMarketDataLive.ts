import { Effect } from "effect"
import { buildWith } from "#domain/effects/buildWith.ts"
import { CryptoMarketData } from "#domain/marketData/CryptoMarketData.ts"
import { CryptoMarketDataProcedures, defaultLimit } from "#rpc/CryptoMarketData.ts"

export const CryptoMarketDataLive = CryptoMarketDataProcedures.toLayer(
  Effect.map(CryptoMarketData, (market) => ({
    "cryptoMarketData.getNews": ({ limit = defaultLimit }) => market.news(limit),
    "cryptoMarketData.getMarketQuotes": ({ coinIds }) => market.quotes(coinIds),
    "cryptoMarketData.getGlobal": () => market.global,
    "cryptoMarketData.getMarketThemes": () => market.themes,
    "cryptoMarketData.getTrending": ({ limit = defaultLimit }) => market.trending(limit),
    "cryptoMarketData.getTopMovers": ({ limit = defaultLimit }) => market.movers(limit),
    "cryptoMarketData.getAssetPlatforms": () => market.platforms,
    "cryptoMarketData.getCoinCategories": () => market.categories
  }))
).pipe(buildWith(CryptoMarketData))
