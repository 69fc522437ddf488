/** What Coinbase says of the shares that it tokenizes. Source: `GET /v1/tokenized-stocks` of its public API. */
import { Duration, Effect, Option, Schema } from "effect"
import * as Eip55 from "#domain/Eip55.ts"
import { MarketDataUnavailable } from "#domain/marketData/Dataset.ts"
import { priceOf } from "#domain/marketData/Figure.ts"
import type { MarketDataJob } from "#domain/marketData/MarketDataJobs.ts"
import { type IssuedToken, issuedByCoinbase } from "#domain/marketData/stockDatasets.ts"
import { linkOf, textOf, timeOf } from "#layers/market/coingecko/rows.ts"
import { fetchedItems } from "#layers/market/readItems.ts"
import { makeFind } from "#layers/provider/makeFind.ts"

/** The shares are on Base alone. */
const chainId = 8453
const Maybe = Schema.optionalKey(Schema.Unknown)

const TokenRow = Schema.Struct({
  contract_address: Schema.String.check(Schema.isPattern(/^0x[0-9a-fA-F]{40}$/u)),
  isin: Maybe,
  multiplier: Maybe,
  nav_price: Maybe,
  nav_price_updated_at: Maybe,
  icon_url: Maybe,
  paused_features: Maybe
})

const toToken = (row: typeof TokenRow.Type): IssuedToken => ({
  assetId: `${Eip55.checksum(row.contract_address)}:${chainId}`,
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
  const find = yield* makeFind({
    name: "Coinbase's list of tokenized shares",
    refusedKey: "it needs no key: check COINBASE_URL",
    baseUrl,
    headers: {},
    concurrentRequests: 1,
    answerLimit: Duration.seconds(8),
    retryPause: Duration.millis(250),
    maxBytes: 2 * 1024 * 1024,
    longestPause: Duration.minutes(5),
    pauseHeaders: ["retry-after"],
    transientStatuses: []
  })
  const fetch = find("/v1/tokenized-stocks", {}, Schema.Struct({ tokens: Schema.Array(Schema.Unknown) })).pipe(
    Effect.mapError(({ reason }) => new MarketDataUnavailable({ reason })),
    Effect.flatMap(
      Option.match({
        onNone: () => Effect.fail(new MarketDataUnavailable({ reason: "Coinbase has no list at COINBASE_URL" })),
        onSome: ({ tokens }) => Effect.succeed(fetchedItems(TokenRow, tokens, toToken))
      })
    )
  )
  const { interval, name, provider } = issuedByCoinbase
  return [{ name, provider, interval, priority: 1, fetch }] satisfies ReadonlyArray<MarketDataJob>
})
