/** Port: what a token says of itself on its chain. */
import { Context, type Effect } from "effect"
import type { AssetId, ChainId } from "#domain/Caip.ts"
import type { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"

/**
 * Tokens as their own chains have them.
 *
 * **When to use**
 *
 * Use to hold token lists against the chain. What is listed is `Assets`.
 */
export class TokenReader extends Context.Service<
  TokenReader,
  {
    /** The decimals of each token, all of one chain; null where nothing at its address says any. */
    readonly decimals: (
      chainId: ChainId,
      assetIds: ReadonlyArray<AssetId>
    ) => Effect.Effect<ReadonlyMap<AssetId, number | null>, ChainUnavailable>
  }
>()("ballast/domain/chain/TokenReader") {}
