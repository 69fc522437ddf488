/** Port: what was signed for the chains, each with its nonce, and what became of it. */
import { Context, type DateTime, type Effect } from "effect"
import type { EvmAddress } from "#domain/Caip.ts"
import type { OperationId } from "#domain/Ids.ts"
import type { ActionReceipt, PreparedTransaction, SignedTransaction } from "#domain/relay/Transaction.ts"

/** Names one attempt at one chain's part of an operation. */
export interface AttemptId {
  readonly operationId: OperationId
  readonly chainId: number
  readonly attempt: number
}

export class RelayStore extends Context.Service<
  RelayStore,
  {
    /**
     * Reserves the relayer's next nonce, signs with it and stores the bytes, in the caller's transaction. An attempt
     * that was signed before gets the stored transaction again.
     */
    readonly reserve: (
      attempt: AttemptId,
      prepared: PreparedTransaction,
      relayer: EvmAddress,
      at: DateTime.Utc,
      sign: (nonce: number) => Effect.Effect<SignedTransaction>
    ) => Effect.Effect<SignedTransaction>
    readonly recordReceipt: (attempt: AttemptId, receipt: ActionReceipt, at: DateTime.Utc) => Effect.Effect<void>
  }
>()("ballast/domain/relay/RelayStore") {}
