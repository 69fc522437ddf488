/** Port: what a token says of itself on its chain. */
import { Context, type Effect } from "effect"
import type { AccountId, AssetId, ChainId } from "#domain/values/Caip.ts"
import type { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"

/** Two tokens of a chain, of both of which an account holds so much. */
export interface EqualHoldings {
  readonly one: AssetId
  readonly other: AssetId
  /** Raw units, above zero. */
  readonly raw: bigint
}

/** A token that is one, and that no allocation may name. */
export interface UnfitToken {
  readonly decimals: number
  /** Why, as the end of a sentence about it. */
  readonly refusal: string
}

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
    /**
     * The decimals of each token, all of one chain; null where nothing at its address says any. With the reason where
     * its own rules keep it from being traded or taken out.
     */
    readonly decimals: (
      chainId: ChainId,
      assetIds: ReadonlyArray<AssetId>
    ) => Effect.Effect<ReadonlyMap<AssetId, number | UnfitToken | null>, ChainUnavailable>
    /**
     * Whether both are entries to one balance, by a transfer of the first that is made up on the account's state; null
     * where the token refuses it. Nothing is sent.
     */
    readonly areOne: (account: AccountId, holdings: EqualHoldings) => Effect.Effect<boolean | null, ChainUnavailable>
  }
>()("ballast/domain/chain/TokenReader") {}
