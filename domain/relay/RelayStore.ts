/** Port: what was signed for the chains, each with its nonce, and what became of it. */
import { Context, type DateTime, type Effect, type Option } from "effect"
import type { ChainId, EvmAddress } from "#domain/values/Caip.ts"
import type { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import type { OperationId } from "#domain/values/Ids.ts"
import type { CancelRequested } from "#domain/operation/CancelRequested.ts"
import type { ActionReceipt, PreparedTransaction, SignedTransaction } from "#domain/relay/Transaction.ts"

/** Names one attempt at one chain's part of an operation. */
export interface AttemptId {
  readonly operationId: OperationId
  readonly chainId: ChainId
  readonly attempt: number
}

/** Identifies an attempt. */
export const attemptKey = ({ attempt, chainId, operationId }: AttemptId): string =>
  `${operationId} ${chainId} ${attempt}`

/** An attempt, and what it puts on the chain. */
export interface RelayedAction {
  readonly attempt: AttemptId
  readonly prepared: PreparedTransaction
}

/** The newest transaction of an attempt. */
export interface StoredTransaction {
  /** Attempt that the transaction includes; one of them where it includes several. */
  readonly attempt: AttemptId
  readonly transaction: SignedTransaction
  readonly signedAt: DateTime.Utc
  /** The attempt's operation is in the state `retrying`: something that it needs did not answer the last time. */
  readonly isRetrying: boolean
  /** Wei for a unit of gas that it may offer at most; null where nothing but the chain's ceiling holds. */
  readonly feeCeiling: bigint | null
  /** It waits, since the market asks more than that. */
  readonly isHeld: boolean
}

/** What is known of a transaction that waits since the market asks more than it may offer. */
export interface Hold {
  readonly since: DateTime.Utc
  /** Another transaction of the relayer waits behind it. */
  readonly isFollowed: boolean
}

/** How actions are signed. */
export interface Signing {
  /** The accounts that may send it. */
  readonly accounts: readonly [EvmAddress, ...ReadonlyArray<EvmAddress>]
  readonly at: DateTime.Utc
  readonly sign: (nonce: number, account: EvmAddress) => Effect.Effect<SignedTransaction, ChainUnavailable>
}

/**
 * What was signed for the chains.
 *
 * **When to use**
 *
 * Use in services of this context, and to record receipts. Steps on Solana are written by `PartJournal` first.
 *
 * **Details**
 *
 * `reserve` commits nonce, bytes and attempts together: a nonce without bytes does not exist. With them it stores what
 * the transaction may offer for a unit of gas at most, however often it is replaced (`feeCeilingOf`).
 */
export class RelayStore extends Context.Service<
  RelayStore,
  {
    /** The given attempts that are signed, in their order. */
    readonly signed: (attempts: ReadonlyArray<AttemptId>) => Effect.Effect<ReadonlyArray<AttemptId>>
    /**
     * Chooses the relayer with the fewest unconfirmed transactions on the chain, signs one transaction with its next
     * nonce while nothing is locked, and stores the bytes together with the nonce and the attempts that it includes, in
     * one commit. `sign` may be called again, for another nonce, when another process has used the one before.
     *
     * False when one of the attempts was signed before, or is one of several and its operation is to be cancelled: then
     * nothing of this is reserved or stored. Without a signature nothing is either, nor for an operation that has ended
     * or is to be cancelled.
     */
    readonly reserve: (
      actions: readonly [RelayedAction, ...ReadonlyArray<RelayedAction>],
      signing: Signing
    ) => Effect.Effect<boolean, ChainUnavailable | CancelRequested>
    /**
     * What an attempt has sent, or may send: read anew before each broadcast, as it may have been replaced. Not for use
     * inside a transaction.
     */
    readonly sent: (attempt: AttemptId) => Effect.Effect<Option.Option<StoredTransaction>>
    /** The transaction that has a nonce of the relayer. */
    readonly atNonce: (
      chainId: ChainId,
      relayer: EvmAddress,
      nonce: number
    ) => Effect.Effect<Option.Option<StoredTransaction>>
    /**
     * Signs a replacement while nothing is locked, and stores it for all that the transaction includes, unless the
     * given one is no longer the newest with its nonce. Answers the newest.
     */
    readonly replace: (
      replaced: StoredTransaction,
      at: DateTime.Utc,
      sign: Effect.Effect<SignedTransaction, ChainUnavailable>
    ) => Effect.Effect<SignedTransaction, ChainUnavailable>
    /** The operations that have not ended of what the transaction includes. */
    readonly operationsIn: (transaction: SignedTransaction) => Effect.Effect<ReadonlyArray<OperationId>>
    /** Notes since when the market asks more than the transaction may offer; repeated it answers the first time. */
    readonly hold: (transaction: SignedTransaction, at: DateTime.Utc) => Effect.Effect<Hold>
    /** The market asks no more than that any longer. */
    readonly release: (transaction: SignedTransaction) => Effect.Effect<void>
    /** Changes nothing when repeated. Not for use inside a transaction. */
    readonly recordReceipt: (attempt: AttemptId, receipt: ActionReceipt, at: DateTime.Utc) => Effect.Effect<void>
  }
>()("ballast/domain/relay/RelayStore") {}
