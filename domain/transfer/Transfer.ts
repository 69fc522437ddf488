/** Value on its way from one chain to another, as the ledger keeps it. Source: interface "Positions" (`inTransit`). */
import { type DateTime, Schema } from "effect"
import { AssetId, type AccountId } from "#domain/values/Caip.ts"
import type { OperationId, PortfolioId } from "#domain/values/Ids.ts"
import type { OutgoingTransfer } from "#domain/trading/OutgoingTransfer.ts"

/**
 * `open`: the amount has left the source chain. `delivered`: at least the minimum amount of the wanted asset arrived.
 * `partial`: less of it, or another token, arrived. `refunded`: the amount came back. `failed`: the source transaction
 * moved nothing after all. Only `open` changes.
 */
export const TransferState = Schema.Literals(["open", "delivered", "partial", "refunded", "failed"])
export type TransferState = typeof TransferState.Type

export interface Transfer extends OutgoingTransfer {
  /** The operation of kind `bridge` that watches it. */
  readonly operationId: OperationId
  readonly portfolioId: PortfolioId
  /** Sent it, on the chain of `sell`. */
  readonly accountId: AccountId
  /** Receives it, on the chain of `buy`. */
  readonly receiverId: AccountId
  /** Transaction that included it on the source chain. */
  readonly txHash: string
  readonly state: TransferState
  readonly openedAt: DateTime.Utc
}

/** How an open transfer ended. */
export const TransferEnd = Schema.Struct({
  state: Schema.Literals(["delivered", "partial", "refunded", "failed"]),
  /** What the account received, as the receiving chain shows it; null when nothing did. */
  received: Schema.NullOr(
    Schema.Struct({
      assetId: AssetId,
      raw: Schema.BigIntFromString,
      txHash: Schema.String,
      blockNumber: Schema.BigIntFromString
    })
  ),
  /** Reason for people, where it did not end as it should. */
  reason: Schema.NullOr(Schema.String)
})
export type TransferEnd = typeof TransferEnd.Type
