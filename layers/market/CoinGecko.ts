/**
 * Prices from CoinGecko's `GET /simple/token_price/{platform}`.
 *
 * How many tokens a request may name depends on the plan, and CoinGecko says so by refusing more: without a key it is
 * one. A refused request is halved until it is taken. From then on no request is larger, and a price is kept for a
 * minute, since the number of requests is limited as well.
 *
 * A price without its time cannot be judged for age and counts as unknown; a time ahead of the clock counts as now.
 */
import { Array, Clock, DateTime, Duration, Effect, Layer, Option, Schema } from "effect"
import { addressOf, type AssetId, type ChainId } from "#domain/values/Caip.ts"
import * as Decimal from "#domain/values/Decimal.ts"
import { PriceLimits } from "#domain/market/PriceLimits.ts"
import type { Price, PricesUnavailable } from "#domain/market/Prices.ts"
import { CoinGeckoClient } from "#layers/market/CoinGeckoClient.ts"
import { makeTokenPrices, priceParams } from "#layers/market/coingecko/tokenPrices.ts"
import { CoinGeckoPlatforms } from "#layers/market/CoinGeckoPlatforms.ts"
import { PriceSource } from "#layers/market/PriceSource.ts"

const batchSize = 100
const freshFor = Duration.toMillis(Duration.seconds(10))
const limitedFreshFor = Duration.toMillis(Duration.minutes(1))
const concurrency = 4
/** CoinGecko's code for a request that asks for more than the plan allows. */
const tooManyCode = 10012
const advice = "a deployment needs a key of a paid plan (COINGECKO_API_KEY, COINGECKO_PLAN)"

const decodeRow = Schema.decodeUnknownOption(Schema.Struct({ usd: Schema.Finite, last_updated_at: Schema.Finite }))

const readPrice = (row: unknown, now: number): Option.Option<Price> =>
  Option.flatMap(decodeRow(row), ({ usd, last_updated_at }) => {
    const wad = Decimal.fromNumber(usd)
    const asOf = DateTime.make(Math.min(last_updated_at * 1000, now))
    return wad === undefined || wad <= 0n
      ? Option.none()
      : Option.map(asOf, (time) => ({ usd: wad, asOf: time, source: "coingecko" }))
  })

export const CoinGecko = Layer.effect(
  PriceSource,
  Effect.gen(function* () {
    const tokenPrices = makeTokenPrices(yield* CoinGeckoClient, yield* CoinGeckoPlatforms)
    const limits = yield* PriceLimits

    const ask = (chainId: ChainId, addresses: ReadonlyArray<string>) =>
      Effect.map(tokenPrices(chainId, addresses, priceParams), (rowOf) => addresses.map(rowOf))

    /** The first of the addresses, as many as are taken: halved until they are. */
    const askFirst = (
      chainId: ChainId,
      addresses: ReadonlyArray<string>
    ): Effect.Effect<ReadonlyArray<unknown>, PricesUnavailable> =>
      Effect.catchIf(
        ask(chainId, addresses),
        ({ code }) => code === tooManyCode && addresses.length > 1,
        Effect.fnUntraced(function* ({ reason: refusal }) {
          const tokensPerRequest = Math.floor(addresses.length / 2)
          const reason = `${refusal}; ${advice}`
          yield* limits.meet({ tokensPerRequest, reason })
          const rows = yield* askFirst(chainId, addresses.slice(0, tokensPerRequest))
          if (rows.length === tokensPerRequest) {
            yield* Effect.logWarning(`Prices are limited to ${tokensPerRequest} tokens a request: ${reason}`)
          }
          return rows
        })
      )

    const rowsOf = Effect.fnUntraced(function* (chainId: ChainId, addresses: ReadonlyArray<string>) {
      const first = yield* askFirst(chainId, addresses)
      if (first.length === addresses.length) return first
      const others = Array.chunksOf(addresses.slice(first.length), first.length)
      const rows = yield* Effect.forEach(others, (some) => ask(chainId, some), { concurrency })
      return [...first, ...rows.flat()]
    })

    const fetch = Effect.fn("CoinGecko.fetch")(function* (chainId: ChainId, assetIds: ReadonlyArray<AssetId>) {
      const rows = yield* rowsOf(chainId, assetIds.map(addressOf))
      const now = yield* Clock.currentTimeMillis
      return new Map(
        assetIds.flatMap((assetId, index) =>
          Option.match(readPrice(rows[index], now), {
            onNone: () => [],
            onSome: (price) => [[assetId, price] as const]
          })
        )
      )
    })

    const terms = Effect.map(limits.current, (met) => ({
      batchSize: met?.tokensPerRequest ?? batchSize,
      freshForMs: met === null ? freshFor : limitedFreshFor
    }))

    return PriceSource.of({ terms, fetch })
  })
).pipe(Layer.provide([CoinGeckoClient.layer, CoinGeckoPlatforms.layer, PriceLimits.layer]))
