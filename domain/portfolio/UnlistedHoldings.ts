/**
 * Port: tokens that an account holds and the asset catalogue does not have, where the account's chain can list them.
 * EVM chains cannot: there each token is read by its address.
 */
import { Context, Effect } from "effect"
import type { AccountId, AssetId } from "#domain/values/Caip.ts"
import type { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"

export interface UnlistedHolding {
  readonly assetId: AssetId
  readonly raw: bigint
  /** What the issuer wrote. It proves nothing: any token may call itself by any symbol. */
  readonly symbol: string
  readonly decimals: number
}

/** Tokens of one account that are returned: anybody may send any token to anybody. */
export const maxUnlisted = 50

/**
 * Unlisted tokens of accounts.
 *
 * **When to use**
 *
 * Use to show everything that an account holds. Nothing of it is valued, planned or traded.
 *
 * **Details**
 *
 * At most `maxUnlisted` tokens, ordered by id; none where no chain that can list them is composed.
 */
export const UnlistedHoldings = Context.Reference<{
  readonly of: (
    account: AccountId,
    listed: ReadonlySet<AssetId>
  ) => Effect.Effect<ReadonlyArray<UnlistedHolding>, ChainUnavailable>
}>("ballast/domain/portfolio/UnlistedHoldings", { defaultValue: () => ({ of: () => Effect.succeed([]) }) })
