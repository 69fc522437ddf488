/** Requests to Coinbase's public API for the shares that it tokenizes. Source: `GET /v1/tokenized-stocks`. */
import { Duration, Effect, Option, Schema } from "effect"
import { MarketDataUnavailable } from "#domain/marketData/Dataset.ts"
import { makeFind } from "#layers/provider/makeFind.ts"

/** The shares are on Base alone. */
export const coinbaseChainId = 8453
const Maybe = Schema.optionalKey(Schema.Unknown)

export const CoinbaseToken = Schema.Struct({
  contract_address: Schema.String.check(Schema.isPattern(/^0x[0-9a-fA-F]{40}$/u)),
  symbol: Maybe,
  decimals: Maybe,
  isin: Maybe,
  multiplier: Maybe,
  nav_price: Maybe,
  nav_price_updated_at: Maybe,
  icon_url: Maybe,
  paused_features: Maybe
})

const Answer = Schema.Struct({ tokens: Schema.Array(Schema.Unknown).check(Schema.isMaxLength(10_000)) })

/** Answers the rows of the list, not decoded. */
export const makeCoinbase = Effect.fnUntraced(function* (baseUrl: string) {
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
  return find({ path: "/v1/tokenized-stocks", schema: Answer }).pipe(
    Effect.mapError(({ reason }) => new MarketDataUnavailable({ reason })),
    Effect.flatMap(
      Option.match({
        onNone: () => Effect.fail(new MarketDataUnavailable({ reason: "Coinbase has no list at COINBASE_URL" })),
        onSome: ({ tokens }) => Effect.succeed(tokens)
      })
    )
  )
})
