/**
 * Port: withdrawals on chain. The account carries each authorization out at most once, from any sender, and tokens
 * never after it expired; so what became of one is read from the chain. Nothing here sends anything.
 */
import { Context, type Effect, type Option } from "effect"
import type { HeldAssetId } from "#domain/values/Caip.ts"
import type { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import type { SimulationFailed } from "#domain/trading/SwapBatches.ts"
import type { ActionReceipt, PreparedAction, SignedTransaction } from "#domain/relay/Transaction.ts"
import type { StoredWithdrawal } from "#domain/withdrawal/WithdrawalStore.ts"

/** The state of an authorization on its chain. */
export type WithdrawalStatus =
  /** It can still be carried out. */
  | { readonly _tag: "Open" }
  /** It was carried out, by us or by another sender. */
  | { readonly _tag: "Landed"; readonly receipt: ActionReceipt }
  /** It was not, and by the chain's own time or the use of its nonce it never will be. */
  | { readonly _tag: "Closed"; readonly reason: string }

/**
 * Withdrawals, as their chain shows them.
 *
 * **When to use**
 *
 * Use in services and the run of this context alone.
 */
export class WithdrawalTransactions extends Context.Service<
  WithdrawalTransactions,
  {
    readonly standing: (withdrawal: StoredWithdrawal) => Effect.Effect<WithdrawalStatus, ChainUnavailable>
    /**
     * The transaction that withdraws without selling, simulated: the relayer submits what the owner signed, after
     * deploying the account when it has not been yet.
     */
    readonly prepare: (
      withdrawal: StoredWithdrawal
    ) => Effect.Effect<PreparedAction, ChainUnavailable | SimulationFailed>
    /**
     * What became of a transaction that includes the withdrawal, with or without sales; none while it may still be
     * carried out. A receipt without success: this transaction did not do it and will not.
     */
    readonly find: (
      transaction: SignedTransaction,
      withdrawal: StoredWithdrawal
    ) => Effect.Effect<Option.Option<ActionReceipt>, ChainUnavailable>
    /** What reached the recipient in the transaction that carried it out; of tokens from its Transfer events. */
    readonly delivered: (
      withdrawal: StoredWithdrawal,
      receipt: ActionReceipt
    ) => Effect.Effect<ReadonlyArray<{ readonly assetId: HeldAssetId; readonly raw: bigint }>, ChainUnavailable>
  }
>()("ballast/domain/withdrawal/WithdrawalTransactions") {}
