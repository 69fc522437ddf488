/** Port of the price guard: the price of an asset at a second source, apart from the first. */
import { Context, type Effect } from "effect"
import type { AssetId } from "#domain/values/Caip.ts"

export class PriceCheck extends Context.Service<
  PriceCheck,
  {
    /** Name of the source in disputes; null where the deployment has no second source. */
    readonly source: string | null
    /** US dollars (wad) for one whole token; undefined when it does not list the asset or does not answer. */
    readonly priceOf: (assetId: AssetId) => Effect.Effect<bigint | undefined>
    /** How far apart the two may be, in basis points of the lower. */
    readonly toleranceBps: number
  }
>()("ballast/layers/market/PriceCheck") {}
