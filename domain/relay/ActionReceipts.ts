/** Port: what became of an action that a relayer's transaction includes, by the hash that names it. */
import { Context, type Effect, type Option } from "effect"
import type { AccountId } from "#domain/values/Caip.ts"
import type { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import type { ActionReceipt, SignedTransaction } from "#domain/relay/Transaction.ts"

/**
 * What became of actions that were sent.
 *
 * **When to use**
 *
 * Use for actions that the agent is authorized for: as the `find` that the relay takes, and after a run. Where the
 * owner's own signature is submitted, its receipt is asked of `WithdrawalTransactions` or `RevocationTransactions`.
 *
 * **Details**
 *
 * Parts have no transaction of a relayer: `PartRelay` says what became of each.
 */
export class ActionReceipts extends Context.Service<
  ActionReceipts,
  {
    /**
     * The receipt of the account's action once it is included, from any sender; none while it may still be. When our
     * own transaction was reverted or lost its nonce and no other one included the action, a receipt without success:
     * nothing moved. The action can then still be submitted by others until its deadline.
     */
    readonly find: (
      transaction: SignedTransaction,
      accountId: AccountId
    ) => Effect.Effect<Option.Option<ActionReceipt>, ChainUnavailable>
  }
>()("ballast/domain/relay/ActionReceipts") {}
