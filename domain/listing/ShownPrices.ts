/** Prices of listed assets as the shared cache of market data has them: no read calls a provider. */
import { Context, DateTime, Effect, Layer, Option } from "effect"
import type { AssetId } from "#domain/values/Caip.ts"
import { AssetIndex } from "#domain/listing/AssetIndex.ts"
import { keyPartsOf } from "#domain/listing/AssetKey.ts"

export interface ShownPrice {
  /** US dollars for one whole token, as a decimal. */
  readonly usd: string
  /** Time at which the provider saw the price. */
  readonly asOf: DateTime.Utc
  /** The cache could not renew it when it was time to. */
  readonly isStale: boolean
}

/**
 * Prices that are shown.
 *
 * **When to use**
 *
 * Use in lists for people. Trades and valuations use `Prices`.
 */
export class ShownPrices extends Context.Service<
  ShownPrices,
  { readonly of: (assetId: AssetId) => ShownPrice | undefined }
>()("ballast/domain/listing/ShownPrices") {
  static readonly layer = Layer.effect(
    ShownPrices,
    Effect.gen(function* () {
      const index = yield* AssetIndex
      return ShownPrices.of({
        of: (assetId) => {
          const { byId, view } = index.current()
          const listing = byId.get(keyPartsOf(assetId).assetId)
          if (listing === undefined) return undefined
          const { priceUsd, stale, updatedAt } = view.marketDataOf(listing)
          const asOf = updatedAt === null ? undefined : Option.getOrUndefined(DateTime.make(updatedAt))
          return priceUsd === null || asOf === undefined
            ? undefined
            : { usd: priceUsd, asOf: DateTime.toUtc(asOf), isStale: stale }
        }
      })
    })
  )
}
