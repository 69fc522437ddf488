/**
 * Puts a prepared transaction on its chain exactly once, whatever crashes in between: `sign` (nonce, bytes and result in
 * one commit), `confirm` (send the stored bytes until the chain shows what became of them) and `record`.
 */
import { Context, DateTime, Duration, Effect, Layer, type Option, Schema } from "effect"
import { ClusterSchema } from "effect/cluster"
import { Activity, DurableClock } from "effect/workflow"
import type { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import { OperationStore } from "#domain/operation/OperationStore.ts"
import { Relayer } from "#domain/relay/Relayer.ts"
import { type AttemptId, RelayStore } from "#domain/relay/RelayStore.ts"
import { ActionReceipt, type PreparedTransaction, SignedTransaction } from "#domain/relay/Transaction.ts"
import { awaitReceipt } from "#layers/engine/awaitReceipt.ts"

const betweenSearches = Duration.seconds(30)

/** Looks on chain for what became of the carried action; none while that is open. */
export type FindReceipt = (
  transaction: SignedTransaction
) => Effect.Effect<Option.Option<ActionReceipt>, ChainUnavailable>

export class TransactionRelay extends Context.Service<
  TransactionRelay,
  {
    /** The receipt, once the chain has decided. Must run inside a workflow; the attempt names the activities. */
    readonly carry: (
      attempt: AttemptId,
      prepared: PreparedTransaction,
      find: FindReceipt
    ) => ReturnType<ReturnType<typeof makeCarry>>
  }
>()("ballast/layers/engine/TransactionRelay") {
  static readonly layer = Layer.effect(
    TransactionRelay,
    Effect.gen(function* () {
      return TransactionRelay.of({
        carry: makeCarry({
          operations: yield* OperationStore,
          store: yield* RelayStore,
          relayer: yield* Relayer
        })
      })
    })
  )
}

interface Services {
  readonly operations: OperationStore["Service"]
  readonly store: RelayStore["Service"]
  readonly relayer: Relayer["Service"]
}

const makeCarry = ({ operations, store, relayer }: Services) => {
  const sign = (attempt: AttemptId, prepared: PreparedTransaction) =>
    Activity.make({
      name: `sign/${attempt.chainId}/${attempt.attempt}`,
      success: SignedTransaction,
      execute: Effect.gen(function* () {
        return yield* store.reserve(attempt, prepared, relayer.address, yield* DateTime.now, (nonce) =>
          relayer.sign(prepared, nonce)
        )
      })
    }).annotate(ClusterSchema.WithTransaction, true)

  const search = (attempt: AttemptId, round: number, transaction: SignedTransaction, find: FindReceipt) =>
    Activity.make({
      name: `confirm/${attempt.chainId}/${attempt.attempt}/${round}`,
      success: Schema.NullOr(ActionReceipt),
      execute: awaitReceipt({ operations, relayer, operationId: attempt.operationId, transaction, find })
    })

  const record = (attempt: AttemptId, receipt: ActionReceipt) =>
    Activity.make({
      name: `record/${attempt.chainId}/${attempt.attempt}`,
      execute: Effect.gen(function* () {
        yield* store.recordReceipt(attempt, receipt, yield* DateTime.now)
      })
    }).annotate(ClusterSchema.WithTransaction, true)

  /** What was signed may land at any later time, so it is searched until the chain has answered. */
  const confirm = Effect.fnUntraced(function* (attempt: AttemptId, transaction: SignedTransaction, find: FindReceipt) {
    for (let round = 1; ; round++) {
      const receipt = yield* search(attempt, round, transaction, find)
      if (receipt !== null) return receipt
      yield* DurableClock.sleep({
        name: `search/${attempt.chainId}/${attempt.attempt}/${round}`,
        duration: betweenSearches
      })
    }
  })

  return Effect.fnUntraced(function* (attempt: AttemptId, prepared: PreparedTransaction, find: FindReceipt) {
    const transaction = yield* sign(attempt, prepared)
    const receipt = yield* confirm(attempt, transaction, find)
    yield* record(attempt, receipt)
    return receipt
  })
}
