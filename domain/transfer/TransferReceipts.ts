/**
 * Port: what an account received in a transaction, by its chain. A provider's status is not enough to close an entry of
 * the ledger.
 */
import { Context, type Effect, type Option } from "effect"
import type { AssetId, AccountId } from "#domain/Caip.ts"
import type { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"

export interface Arrival {
  readonly success: boolean
  /** The account acted in it: what it received then is its own doing. */
  readonly isOwn: boolean
  readonly blockNumber: bigint
  /** Net change of each token of the account in the transaction. */
  readonly deltas: ReadonlyArray<{ readonly assetId: AssetId; readonly raw: bigint }>
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
     * The block of an action of the account that succeeded, by its hash; none while it is in no block, or if it
     * failed.
     */
    readonly carriedAt: (
      accountId: AccountId,
      actionHash: string,
      fromBlock: bigint
    ) => Effect.Effect<Option.Option<{ readonly blockNumber: bigint; readonly txHash: string }>, ChainUnavailable>
    /** None while the chain does not have the transaction. */
    readonly read: (accountId: AccountId, txHash: string) => Effect.Effect<Option.Option<Arrival>, ChainUnavailable>
  }
>()("ballast/domain/transfer/TransferReceipts") {}
