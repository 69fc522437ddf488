/** Candles of listed assets from the shared cache: of the share behind a token, or of the coin. */
import { Effect, Layer } from "effect"
import { AssetIndex } from "#domain/listing/AssetIndex.ts"
import { coinCandles, stockCandles } from "#domain/marketData/coinDatasets.ts"
import { MarketDataCache } from "#domain/marketData/MarketDataCache.ts"
import { candleChange, CandleChanges, spanFor } from "#domain/monitor/CandleChanges.ts"

/** CandleChanges. What is older than its own life in the cache is not known. */
export const ListedCandles = Layer.effect(
  CandleChanges,
  Effect.gen(function* () {
    const index = yield* AssetIndex
    const cache = yield* MarketDataCache
    return (assetId, windowHours, now) => {
      const listing = index.current().byId.get(assetId)
      if (listing === undefined) return undefined
      const { coinId, ticker } = listing
      const span = spanFor(windowHours)
      const fetched =
        ticker !== null
          ? cache.get(stockCandles(span), ticker)
          : coinId === null
            ? undefined
            : cache.get(coinCandles(span), coinId)
      if (fetched === undefined || fetched.expiresAt.epochMilliseconds <= now) return undefined
      return candleChange(fetched.data, windowHours, now)
    }
  })
)
