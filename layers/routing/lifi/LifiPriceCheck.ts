/** Prices of LI.FI's `GET /token` as a second source; none where no LI.FI is configured. */
import { Context, Duration, Effect, Layer, Option, Schema } from "effect"
import { chainIdOf, type Erc20AssetId, isErc20 } from "#domain/values/Caip.ts"
import * as Decimal from "#domain/values/Decimal.ts"
import { withinRealTime } from "#layers/clock/withinRealTime.ts"
import { PriceCheck } from "#layers/market/PriceCheck.ts"
import { LifiClient } from "#layers/routing/lifi/LifiClient.ts"
import { LifiConfig } from "#layers/routing/lifi/LifiConfig.ts"
import { addressOf } from "#layers/evm/address.ts"

/** How far the two sources of prices may be apart, in basis points. Filled by src/Config.ts. */
export class PriceTolerance extends Context.Service<PriceTolerance, { readonly bps: number }>()(
  "ballast/layers/routing/lifi/PriceTolerance"
) {}

/** A price is requested while a caller waits for it. */
const timeout = Duration.seconds(2)

const Token = Schema.Struct({ priceUSD: Schema.optionalKey(Schema.String) })

export const LifiPriceCheck = Layer.effect(
  PriceCheck,
  Effect.gen(function* () {
    const { baseUrl } = yield* LifiConfig
    const { bps } = yield* PriceTolerance
    const { find } = yield* LifiClient

    const priceOf = (assetId: Erc20AssetId) =>
      find({
        path: "/token",
        params: { chain: String(chainIdOf(assetId)), token: addressOf(assetId) },
        schema: Token
      }).pipe(
        withinRealTime(timeout, () => "too late" as const),
        Effect.map(Option.getOrUndefined),
        Effect.map((token) => {
          const usd = token?.priceUSD === undefined ? undefined : Decimal.parse(token.priceUSD)
          return usd === undefined || usd <= 0n ? undefined : usd
        }),
        Effect.catch(() => Effect.succeed(undefined))
      )

    return PriceCheck.of({
      source: baseUrl === null ? null : "lifi",
      // It is not requested for other families, and gives no answer.
      priceOf: (assetId) => (isErc20(assetId) ? priceOf(assetId) : Effect.succeed(undefined)),
      toleranceBps: bps
    })
  })
).pipe(Layer.provide(LifiClient.layer))
