/**
 * What is done about a transaction that would land only for more than what it includes may cost: nothing, for a time,
 * as the market may fall; then it is taken back, by a transaction with its nonce that does nothing. At once where
 * others wait behind it, since they cannot land before.
 *
 * Which of the two lands the chain decides, and the nonce lets one of them: the operation was carried out, or it was
 * not and never will be by this transaction. Its run then makes it anew by plan, with the same nonce of the account, so
 * of both operations one can count.
 */
import { DateTime, Duration, Effect, Metric, Option } from "effect"
import type { ChainId } from "#domain/values/Caip.ts"
import * as Metrics from "#domain/effects/Metrics.ts"
import type { OperationStore } from "#domain/operation/OperationStore.ts"
import { gasWaits } from "#domain/operation/waits.ts"
import type { Relayer } from "#domain/relay/Relayer.ts"
import type { RelayStore, StoredTransaction } from "#domain/relay/RelayStore.ts"

export interface ReplacementServices {
  readonly operations: Pick<OperationStore["Service"], "append">
  readonly store: RelayStore["Service"]
  readonly relayer: Relayer["Service"]
  /** How long it waits for cheaper gas where nothing waits behind it. */
  readonly holdFor: Duration.Duration
}

const gwei = (wei: bigint): string => (Number(wei) / 1e9).toPrecision(3)

/** Counts what was done about a transaction that does not land. */
export const countReplacement = (chainId: ChainId, outcome: "replaced" | "held" | "taken_back" | "ceiling") =>
  Metric.update(Metric.withAttributes(Metrics.relayReplacements, { chain: String(chainId), outcome }), 1)

export const holdTransaction = Effect.fn("holdTransaction")(function* (
  { holdFor, operations, relayer, store }: ReplacementServices,
  head: StoredTransaction,
  feeCeiling: bigint
) {
  const { isHeld, transaction } = head
  const { chainId, nonce } = transaction
  const at = yield* DateTime.now

  // Before it is noted: a process that dies in between says it twice, and never not at all.
  if (!isHeld) {
    const reason = `gas on chain ${chainId} costs more than the ${gwei(feeCeiling)} gwei that this is worth, or may cost; it waits for cheaper gas, and is taken back when that does not come`
    for (const operationId of yield* store.operationsIn(transaction))
      yield* operations.append({ operationId, at, kind: gasWaits, payload: { reason } })
    yield* countReplacement(chainId, "held")
  }
  const { isFollowed, since } = yield* store.hold(transaction, at)
  if (!isFollowed && Duration.isLessThan(DateTime.distance(since, at), holdFor)) return

  const cancelling = yield* relayer.quoteCancelling(transaction, { feeCeiling })
  if (Option.isNone(cancelling)) {
    yield* countReplacement(chainId, "ceiling")
    return yield* Effect.logWarning(
      `Nonce ${nonce} of relayer ${transaction.relayer} on chain ${chainId} waits: gas costs more than what it includes may cost, and so much that taking it back would too. Wait for cheaper gas`
    )
  }
  const newest = yield* store.replace(head, at, relayer.signCancelling(transaction, cancelling.value))
  yield* countReplacement(chainId, "taken_back")
  yield* Effect.logWarning(
    `Nonce ${nonce} of relayer ${transaction.relayer} on chain ${chainId} is taken back: gas costs more than the ${gwei(feeCeiling)} gwei that it may offer`
  )
  yield* relayer.broadcast(newest)
})
