/**
 * Data of the issuer of xStocks about its listed tokens: identity and halts of each, and on Solana the shares of a
 * token. On EVM chains the balance itself follows corporate actions, so a token there is a share.
 */
import { DateTime, Effect, Option } from "effect"
import type { ListedAsset } from "#domain/asset/ListedAssets.ts"
import { keyPartsOf } from "#domain/listing/AssetKey.ts"
import { priceOf } from "#domain/marketData/Figure.ts"
import type { MarketDataJob } from "#domain/marketData/MarketDataJobs.ts"
import {
  issuedByXStocks,
  type IssuedMultiplier,
  type IssuedToken,
  multipliersOfXStocks
} from "#domain/marketData/stockDatasets.ts"
import { linkOf, textOf } from "#layers/market/coingecko/rows.ts"
import { datasetJob, whole } from "#layers/market/datasetJob.ts"
import { deploymentsOf, makeXStocks, type Multiplier, type XStock } from "#layers/market/issuers/XStocks.ts"

const toTokens = (row: typeof XStock.Type): ReadonlyArray<IssuedToken> =>
  deploymentsOf(row).map((assetId) => ({
    assetId,
    isin: textOf(row.isin),
    multiplier: null,
    navPriceUsd: null,
    navUpdatedAt: null,
    iconUrl: linkOf(row.logo),
    pausedFeatures: row.isTradingHalted === true ? ["trading"] : []
  }))

const toMultiplier = (assetId: string, row: typeof Multiplier.Type): IssuedMultiplier => {
  const next = priceOf(row.newMultiplier)
  const { activationDateTime: seconds } = row
  const from =
    typeof seconds === "number" && seconds > 0
      ? Option.getOrNull(Option.map(DateTime.make(seconds * 1000), DateTime.formatIso))
      : null
  return {
    assetId,
    multiplier: priceOf(row.currentMultiplier),
    next: next === null || from === null ? null : { multiplier: next, from }
  }
}

/** Symbols in their order, so that a job means the same token each time. */
const bySymbol = (listed: ReadonlyArray<ListedAsset>) =>
  listed.filter(({ issuer }) => issuer === "xstocks").sort((a, b) => (a.symbol < b.symbol ? -1 : 1))

export const xStocksJobs = Effect.fnUntraced(function* (baseUrl: string) {
  const registry = yield* makeXStocks(baseUrl)
  return (listed: ReadonlyArray<ListedAsset>): ReadonlyArray<MarketDataJob> => {
    const tokens = bySymbol(listed)
    const symbols = [...new Set(tokens.map(({ symbol }) => symbol))]
    const scaled = tokens.filter(({ unitModel }) => unitModel === "scaled")
    return [
      ...scaled.map(({ caipAssetId, symbol }, index) =>
        datasetJob(multipliersOfXStocks, {
          priority: 1,
          fetch: whole(
            Effect.map(registry.multiplier(symbol, "Solana"), (row) =>
              toMultiplier(keyPartsOf(caipAssetId).assetId, row)
            )
          ),
          key: String(index)
        })
      ),
      ...symbols.map((symbol, index) =>
        datasetJob(issuedByXStocks, {
          priority: 2,
          fetch: whole(Effect.map(registry.asset(symbol), toTokens)),
          key: String(index)
        })
      )
    ]
  }
})
