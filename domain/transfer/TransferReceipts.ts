/**
 * Port: what an account received, by its chain: in which transactions, and what in each. A provider's status is not
 * enough to close an entry of the ledger, and not needed where the chain shows what arrived.
 */
import { Context, type Effect, type Option } from "effect"
import type { AssetId, AccountId } from "#domain/values/Caip.ts"
import type { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import type { SignedTransaction } from "#domain/relay/Transaction.ts"

export interface Arrival {
  readonly success: boolean
  /** The account acted in it: what it received then is its own doing. */
  readonly isOwn: boolean
  readonly blockNumber: bigint
  /** Net change of each token of the account in the transaction. */
  readonly deltas: ReadonlyArray<{ readonly assetId: AssetId; readonly raw: bigint }>
}

export interface SoughtAction {
  /** What includes it; null while nothing was signed, and then nothing was sent. */
  readonly transaction: SignedTransaction | null
  /** The block at which the account was read. */
  readonly block: bigint
}

/** An amount of a token, in raw units. */
export interface SoughtArrival {
  readonly assetId: AssetId
  readonly least: bigint
  readonly most: bigint
  /** What sent it: nothing that is older is it. */
  readonly after: { readonly accountId: AccountId; readonly txHash: string }
}

/**
 * What an account received, by its chain.
 *
 * **When to use**
 *
 * Use to confirm the status of a provider before an entry of the ledger is closed.
 */
export class TransferReceipts extends Context.Service<
  TransferReceipts,
  {
    /**
     * The block of an action of the account that succeeded; none when it is in no block up to the given one, or
     * failed. Fails when the account has acted by that block and the chain does not show in what.
     */
    readonly inclusionOf: (
      accountId: AccountId,
      actionHash: string,
      sought: SoughtAction
    ) => Effect.Effect<Option.Option<{ readonly blockNumber: bigint; readonly txHash: string }>, ChainUnavailable>
    /**
     * Transactions of the account's chain that count and brought it an amount, by the token's own events, since a
     * transaction of another account; oldest first. What is not among them may still have arrived.
     */
    readonly incoming: (
      accountId: AccountId,
      sought: SoughtArrival
    ) => Effect.Effect<ReadonlyArray<string>, ChainUnavailable>
    /** None while the chain does not have the transaction. */
    readonly read: (accountId: AccountId, txHash: string) => Effect.Effect<Option.Option<Arrival>, ChainUnavailable>
  }
>()("ballast/domain/transfer/TransferReceipts") {}
