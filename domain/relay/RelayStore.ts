/** Port: what was signed for the chains, each with its nonce, and what became of it. */
import { Context, type DateTime, type Effect, type Option } from "effect"
import type { EvmAddress } from "#domain/Caip.ts"
import type { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import type { OperationId } from "#domain/Ids.ts"
import type { ActionReceipt, PreparedTransaction, SignedTransaction } from "#domain/relay/Transaction.ts"

/** Names one attempt at one chain's part of an operation. */
export interface AttemptId {
  readonly operationId: OperationId
  readonly chainId: number
  readonly attempt: number
}

/** The newest transaction of an attempt. */
export interface StoredTransaction {
  readonly attempt: AttemptId
  readonly transaction: SignedTransaction
  readonly signedAt: DateTime.Utc
}

export class RelayStore extends Context.Service<
  RelayStore,
  {
    /**
     * Chooses the relayer with the fewest unsettled transactions on the chain, reserves its next nonce, signs with it and
     * stores the bytes, in the caller's transaction. An attempt that was signed before gets the stored transaction again. Without a signature nothing is reserved.
     */
    readonly reserve: (
      attempt: AttemptId,
      prepared: PreparedTransaction,
      lanes: readonly [EvmAddress, ...ReadonlyArray<EvmAddress>],
      at: DateTime.Utc,
      sign: (nonce: number, lane: EvmAddress) => Effect.Effect<SignedTransaction, ChainUnavailable>
    ) => Effect.Effect<SignedTransaction, ChainUnavailable>
    /** What an attempt has sent, or may send: read anew before each broadcast, as it may have been replaced. */
    readonly sent: (attempt: AttemptId) => Effect.Effect<Option.Option<StoredTransaction>>
    /** Whose transaction has a nonce of the relayer. */
    readonly atNonce: (
      chainId: number,
      relayer: EvmAddress,
      nonce: number
    ) => Effect.Effect<Option.Option<StoredTransaction>>
    /**
     * Signs a replacement and stores it in one commit, unless the given transaction is no longer the newest of its
     * attempt. Answers the newest.
     */
    readonly replace: (
      replaced: StoredTransaction,
      at: DateTime.Utc,
      sign: Effect.Effect<SignedTransaction, ChainUnavailable>
    ) => Effect.Effect<SignedTransaction, ChainUnavailable>
    readonly recordReceipt: (attempt: AttemptId, receipt: ActionReceipt, at: DateTime.Utc) => Effect.Effect<void>
  }
>()("ballast/domain/relay/RelayStore") {}
