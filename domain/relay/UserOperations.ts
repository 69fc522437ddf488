/** Port: user operations that share a transaction. Source: ERC-4337. */
import { Context, type Effect } from "effect"
import type { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import type { PreparedTransaction } from "#domain/relay/Transaction.ts"

/** Several user operations as one transaction. */
export interface Bundle {
  readonly transaction: PreparedTransaction
  /** Positions of those that it includes; the chain would refuse the others within it. */
  readonly kept: ReadonlyArray<number>
}

/**
 * User operations that share a transaction.
 *
 * **When to use**
 *
 * Use in `BundleSigner` alone. What became of one is `ActionReceipts`.
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
  }
>()("ballast/domain/relay/UserOperations") {}
