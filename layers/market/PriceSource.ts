/** Where prices come from: one request for up to so many assets of one chain. */
import { Context, type Effect } from "effect"
import type { AssetId, ChainId } from "#domain/values/Caip.ts"
import type { Price, PricesUnavailable } from "#domain/market/Prices.ts"

export interface PriceTerms {
  readonly batchSize: number
  readonly freshForMs: number
}

export class PriceSource extends Context.Service<
  PriceSource,
  {
    /** What it takes now: assets of one call, and how long an answer is kept before it is asked again. */
    readonly terms: Effect.Effect<PriceTerms>
    /** An asset that the source does not list is absent. All assets are on `chainId`. */
    readonly fetch: (
      chainId: ChainId,
      assetIds: ReadonlyArray<AssetId>
    ) => Effect.Effect<ReadonlyMap<AssetId, Price>, PricesUnavailable>
  }
>()("ballast/layers/market/PriceSource") {}
