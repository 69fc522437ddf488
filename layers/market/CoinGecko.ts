/**
 * Prices from CoinGecko's `GET /simple/token_price/{platform}`.
 *
 * A price without its time cannot be judged for age and counts as unknown; a time ahead of the clock counts as now.
 */
import { Clock, DateTime, Effect, Layer, Option, Schema } from "effect"
import { addressOf, type AssetId, type ChainId } from "#domain/Caip.ts"
import * as Decimal from "#domain/Decimal.ts"
import type { Price } from "#domain/market/Prices.ts"
import { CoinGeckoClient } from "#layers/market/CoinGeckoClient.ts"
import { makeTokenPrices, priceParams } from "#layers/market/coingecko/tokenPrices.ts"
import { CoinGeckoPlatforms } from "#layers/market/CoinGeckoPlatforms.ts"
import { PriceSource } from "#layers/market/PriceSource.ts"

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

    const fetch = Effect.fn("CoinGecko.fetch")(function* (chainId: ChainId, assetIds: ReadonlyArray<AssetId>) {
      const rowOf = yield* tokenPrices(chainId, assetIds.map(addressOf), priceParams)
      const now = yield* Clock.currentTimeMillis
      return new Map(
        assetIds.flatMap((assetId) =>
          Option.match(readPrice(rowOf(addressOf(assetId)), now), {
            onNone: () => [],
            onSome: (price) => [[assetId, price] as const]
          })
        )
      )
    })

    return PriceSource.of({ batchSize: 100, fetch })
  })
).pipe(Layer.provide([CoinGeckoClient.layer, CoinGeckoPlatforms.layer]))
