/**
 * Port: the ledger of value between chains. What is open in it belongs to a portfolio and is in none of its accounts.
 */
import { Context, type DateTime, type Effect, type Option } from "effect"
import { type ChainId, type AccountId, chainIdOf, sameAddressOn } from "#domain/values/Caip.ts"
import type { OperationId, PortfolioId } from "#domain/values/Ids.ts"
import type { OutgoingTransfer } from "#domain/trading/OutgoingTransfer.ts"
import type { Transfer, TransferEnd } from "#domain/transfer/Transfer.ts"
import type { Claims } from "#domain/transfer/transferEnd.ts"

/**
 * Which account receives a transfer.
 *
 * The account that the transfer names, or the one with the same address on the chain of `buy`. A transfer
 * between two families names its recipient: one that does not is a defect.
 */
export const receiverOf = (accountId: AccountId, { buy, recipient }: OutgoingTransfer): AccountId => {
  if (recipient !== undefined) return recipient
  const receiver = sameAddressOn(accountId, chainIdOf(buy))
  if (receiver === undefined) {
    throw new Error(`A transfer from ${accountId} of ${buy} names no recipient; only EVM accounts have one address`)
  }
  return receiver
}

/** What a landed batch sent away. */
export interface OpenedTransfers {
  /** The run, and the attempt on its chain, whose batch it was. */
  readonly runId: OperationId
  readonly attempt: number
  readonly accountId: AccountId
  readonly txHash: string
  readonly transfers: ReadonlyArray<OutgoingTransfer>
  readonly at: DateTime.Utc
}

/** What is about to be sent away, by an action that can be found on its chain by its hash. */
export interface TransferIntent extends Omit<OpenedTransfers, "txHash"> {
  readonly actionHash: string
  /** The action is in no block before this one. */
  readonly fromBlock: bigint
}

export interface TransferClosing {
  readonly at: DateTime.Utc
  /** Other entries that the transaction has closed. */
  readonly closedBefore: number
}

/**
 * The ledger of value between chains.
 *
 * **When to use**
 *
 * Use in services of this context, and in runs that send value; `recordIntent`, `cancelIntent` and `open` in
 * `submitBatch` and `resolveIntent` alone. What is on the way for a reading is `InTransit`.
 *
 * **Details**
 *
 * An entry is opened once and closed once, each in the transaction that changes the operation with it.
 */
export class TransferLedger extends Context.Service<
  TransferLedger,
  {
    /** Written before anything is sent; repeated it changes nothing. `open` and `cancelIntent` take it away. */
    readonly recordIntent: (intent: TransferIntent) => Effect.Effect<void>
    /** Cancels the intent of a batch that moved nothing. */
    readonly cancelIntent: (runId: OperationId, chainId: ChainId, attempt: number) => Effect.Effect<void>
    /** Intents of runs that ended before the given time, in a fixed order, after the given one. */
    readonly abandonedIntents: (
      endedBefore: DateTime.Utc,
      after: TransferIntent | null,
      limit: number
    ) => Effect.Effect<ReadonlyArray<TransferIntent>>
    readonly intentsOf: (portfolioId: PortfolioId) => Effect.Effect<ReadonlyArray<TransferIntent>>
    /**
     * Opens an entry and accepts an operation of kind `bridge` for each transfer, in one transaction. Repeated for the
     * same batch it changes nothing and answers the same operations.
     */
    readonly open: (opened: OpenedTransfers) => Effect.Effect<ReadonlyArray<OperationId>>
    readonly find: (operationId: OperationId) => Effect.Effect<Option.Option<Transfer>>
    readonly openOf: (portfolioId: PortfolioId) => Effect.Effect<ReadonlyArray<Transfer>>
    /** How an entry was closed; none while it is open. */
    readonly endOf: (operationId: OperationId) => Effect.Effect<Option.Option<TransferEnd>>
    /** Open entries of all portfolios, oldest first, after the given one. */
    readonly allOpen: (after: OperationId | null, limit: number) => Effect.Effect<ReadonlyArray<Transfer>>
    /** What else of its portfolio may lay claim to what a transaction brought. */
    readonly claims: (transfer: Transfer, txHash: string) => Effect.Effect<Claims>
    /**
     * Closes an open entry, ends its operation and makes the portfolio due, in one transaction. No change and false
     * when it is closed already, and when the transaction that brought what was received has closed another than the
     * given number of other entries of the portfolio.
     */
    readonly close: (operationId: OperationId, end: TransferEnd, closing: TransferClosing) => Effect.Effect<boolean>
  }
>()("ballast/domain/transfer/TransferLedger") {}
