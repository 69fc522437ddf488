/** Port: the asset catalogue of the deployment. */
import { Context, type Effect } from "effect"
import type { Asset } from "#domain/asset/Asset.ts"
import type { AssetId, ChainId } from "#domain/values/Caip.ts"

/**
 * The assets of the deployment's token lists.
 *
 * **When to use**
 *
 * Use wherever an asset id has to become symbol and decimals, or where it has to be known at all. What a token stands
 * for is in `Catalogue`.
 *
 * **Details**
 *
 * Never fails. An unknown asset is absent from the answer, a blocked one is in it and says so.
 *
 * **Example** (A list of one asset)
 *
 * ```ts
 * import { Effect, Layer, Schema } from "effect"
 * import type { Asset } from "#domain/asset/Asset.ts"
 * import { Assets } from "#domain/asset/Assets.ts"
 * import { AssetId, ChainId } from "#domain/values/Caip.ts"
 *
 * const usdc: Asset = {
 *   assetId: Schema.decodeSync(AssetId)("eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"),
 *   chainId: ChainId.make(8453),
 *   symbol: "USDC",
 *   name: "USD Coin",
 *   decimals: 6,
 *   isBlocked: false
 * }
 *
 * const ListedUsdc = Layer.succeed(Assets, {
 *   find: (assetIds) => Effect.succeed(new Map(assetIds.includes(usdc.assetId) ? [[usdc.assetId, usdc]] : [])),
 *   onChain: (chainId) => Effect.succeed(chainId === usdc.chainId ? [usdc] : [])
 * })
 *
 * const symbols = Effect.gen(function* () {
 *   const assets = yield* Assets
 *   return (yield* assets.onChain(ChainId.make(8453))).map(({ symbol }) => symbol)
 * }).pipe(Effect.provide(ListedUsdc))
 * ```
 */
export class Assets extends Context.Service<
  Assets,
  {
    /** The known ones of the given assets, by id. */
    readonly find: (assetIds: ReadonlyArray<AssetId>) => Effect.Effect<ReadonlyMap<AssetId, Asset>>
    /** All assets of a chain, ordered by id. */
    readonly onChain: (chainId: ChainId) => Effect.Effect<ReadonlyArray<Asset>>
  }
>()("ballast/domain/asset/Assets") {}
