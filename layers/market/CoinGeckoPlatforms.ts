/** CoinGecko's names of chains ("asset platforms"). */
import { Cache, Context, Duration, Effect, Exit, Layer, Schema } from "effect"
import type { ChainId } from "#domain/values/Caip.ts"
import type { PricesUnavailable } from "#domain/market/Prices.ts"
import { CoinGeckoClient } from "#layers/market/CoinGeckoClient.ts"
import { knownPlatform } from "#layers/market/platforms.ts"

/** The platform's id becomes part of a path. */
const PlatformId = Schema.String.check(Schema.isPattern(/^[a-z0-9][a-z0-9-]{0,63}$/u))

const isPlatformRow = Schema.is(Schema.Struct({ id: PlatformId, chain_identifier: Schema.Int }))

export class CoinGeckoPlatforms extends Context.Service<
  CoinGeckoPlatforms,
  {
    /** The platform of a chain, that of Solana included; `undefined` when CoinGecko has none. */
    readonly of: (chainId: ChainId) => Effect.Effect<string | undefined, PricesUnavailable>
  }
>()("ballast/layers/market/CoinGeckoPlatforms") {
  static readonly layer = Layer.effect(
    CoinGeckoPlatforms,
    Effect.gen(function* () {
      const client = yield* CoinGeckoClient

      const platforms = yield* Cache.makeWith(
        (path: "/asset_platforms") =>
          Effect.map(
            client.get({ path, schema: Schema.Array(Schema.Unknown) }),
            (rows) => new Map(rows.filter(isPlatformRow).map((row) => [row.chain_identifier, row.id]))
          ),
        { capacity: 1, timeToLive: (exit) => (Exit.isSuccess(exit) ? Duration.hours(1) : Duration.zero) }
      )

      return CoinGeckoPlatforms.of({
        of: Effect.fnUntraced(function* (chainId) {
          return knownPlatform(chainId) ?? (yield* Cache.get(platforms, "/asset_platforms")).get(chainId)
        })
      })
    })
  ).pipe(Layer.provide(CoinGeckoClient.layer))
}
