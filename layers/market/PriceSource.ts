/** Where prices come from: one request for up to `batchSize` assets of one chain. */
import { Context, type Effect } from "effect"
import type { AssetId, ChainId } from "#domain/Caip.ts"
import type { Price, PricesUnavailable } from "#domain/market/Prices.ts"

export class PriceSource extends Context.Service<
  PriceSource,
  {
    readonly batchSize: number
    /** An asset that the source does not list is absent. All assets are on `chainId`. */
    readonly fetch: (
      chainId: ChainId,
      assetIds: ReadonlyArray<AssetId>
    ) => Effect.Effect<ReadonlyMap<AssetId, Price>, PricesUnavailable>
  }
>()("ballast/layers/market/PriceSource") {}
