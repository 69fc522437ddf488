/** Coinbase's data of the shares that it tokenizes. */
import { Effect } from "effect"
import * as Eip55 from "#domain/values/Eip55.ts"
import { priceOf } from "#domain/marketData/Figure.ts"
import type { MarketDataJob } from "#domain/marketData/MarketDataJobs.ts"
import { type IssuedToken, issuedByCoinbase } from "#domain/marketData/stockDatasets.ts"
import { linkOf, textOf, timeOf } from "#layers/market/coingecko/rows.ts"
import { datasetJob } from "#layers/market/datasetJob.ts"
import { coinbaseChainId, CoinbaseToken, makeCoinbase } from "#layers/market/issuers/Coinbase.ts"
import { fetchedItems } from "#layers/market/readItems.ts"

const toToken = (row: typeof CoinbaseToken.Type): IssuedToken => ({
  assetId: `${Eip55.checksum(row.contract_address)}:${coinbaseChainId}`,
  isin: textOf(row.isin),
  multiplier: priceOf(row.multiplier),
  navPriceUsd: priceOf(row.nav_price),
  navUpdatedAt: timeOf(row.nav_price_updated_at),
  iconUrl: linkOf(row.icon_url),
  pausedFeatures: Array.isArray(row.paused_features)
    ? row.paused_features.filter((feature): feature is string => typeof feature === "string").slice(0, 20)
    : []
})

export const coinbaseJobs = Effect.fnUntraced(function* (baseUrl: string) {
  const list = yield* makeCoinbase(baseUrl)
  const fetch = Effect.map(list, (rows) => fetchedItems(CoinbaseToken, rows, toToken))
  return [datasetJob(issuedByCoinbase, { priority: 1, fetch })] satisfies ReadonlyArray<MarketDataJob>
})
