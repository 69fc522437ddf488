/** Which asset's price values the native coin of a chain. */
import { Context } from "effect"
import type { AssetId, ChainId } from "#domain/values/Caip.ts"

/**
 * Each chain's wrapped native coin: the asset at whose price the native coin is valued.
 *
 * **When to use**
 *
 * Use to value what operations cost. On a chain that is not in it, costs are not known.
 */
export class NativeAssets extends Context.Service<NativeAssets, ReadonlyMap<ChainId, AssetId>>()(
  "ballast/domain/chain/NativeAssets"
) {}
