/** Port: user operations that were prepared, on their way to a chain. Source: ERC-4337. */
import { Context, type Effect, type Option } from "effect"
import type { AccountId } from "#domain/Caip.ts"
import type { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import type { ActionReceipt, PreparedTransaction, SignedTransaction } from "#domain/relay/Transaction.ts"

/** Several user operations as one transaction. */
export interface Bundle {
  readonly transaction: PreparedTransaction
  /** Places of those that it carries; the chain would refuse the others within it. */
  readonly kept: ReadonlyArray<number>
}

/**
 * User operations on their way to a chain.
 *
 * **When to use**
 *
 * Use in services of this context, and as the `find` of actions that are user operations.
 */
export class UserOperations extends Context.Service<
  UserOperations,
  {
    /**
     * One transaction that the chain accepts, of user operations of different accounts that may share one. Operations
     * that would fail it are left out. Nothing is sent; fails when the chain does not say whether it would accept it.
     */
    readonly bundle: (
      operations: readonly [PreparedTransaction, ...ReadonlyArray<PreparedTransaction>]
    ) => Effect.Effect<Bundle, ChainUnavailable>
    /**
     * The receipt of the user operation once it is included, from any sender; none while it may still be. When our own
     * transaction was reverted or lost its nonce and no other one carried the operation, a receipt without success:
     * nothing moved. The signed operation can then still be carried by others until its deadline.
     */
    readonly find: (
      transaction: SignedTransaction,
      accountId: AccountId
    ) => Effect.Effect<Option.Option<ActionReceipt>, ChainUnavailable>
  }
>()("ballast/domain/relay/UserOperations") {}
