/** Port: the asset catalogue of the deployment. */
import { Context, type Effect } from "effect"
import type { Asset } from "#domain/asset/Asset.ts"
import type { AssetId, ChainId } from "#domain/Caip.ts"

export class Assets extends Context.Service<
  Assets,
  {
    /** The known ones of the given assets, by id. */
    readonly find: (assetIds: ReadonlyArray<AssetId>) => Effect.Effect<ReadonlyMap<AssetId, Asset>>
    /** All assets of a chain, ordered by id. */
    readonly onChain: (chainId: ChainId) => Effect.Effect<ReadonlyArray<Asset>>
  }
>()("ballast/domain/asset/Assets") {}
