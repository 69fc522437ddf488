/** Port: the blocks in which accounts are known to have changed, by what the service has recorded. */
import { Context, type Effect } from "effect"
import type { AccountId } from "#domain/values/Caip.ts"

/**
 * The last change of accounts.
 *
 * **When to use**
 *
 * Use to recognize a reading of an account that is older than what the service itself knows to have happened to it.
 * `CurrentBalances` does so for balances.
 */
export class LastChanges extends Context.Service<
  LastChanges,
  {
    /**
     * The block, or slot, of the last recorded receipt of what the account did, or of the last transfer that arrived at
     * it, whichever is later; an account without any is absent. Not for use inside a transaction.
     */
    readonly of: (accounts: ReadonlyArray<AccountId>) => Effect.Effect<ReadonlyMap<AccountId, bigint>>
  }
>()("ballast/domain/chain/LastChanges") {}
