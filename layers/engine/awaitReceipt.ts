/**
 * Sends stored bytes and looks for their receipt, for a bounded time; null when the chain has not answered by then.
 * Safe to repeat from the start: the same bytes again change nothing.
 */
import { Cause, DateTime, Duration, Effect, Option, Result, Schedule } from "effect"
import type { OperationId } from "#domain/Ids.ts"
import type { OperationStore } from "#domain/operation/OperationStore.ts"
import type { Relayer } from "#domain/relay/Relayer.ts"
import type { ActionReceipt, SignedTransaction } from "#domain/relay/Transaction.ts"
import type { FindReceipt } from "#layers/engine/TransactionRelay.ts"

/** How long one search lasts. */
const searchFor = Duration.seconds(60)

/** 100 ms at first, for chains with fast blocks, then up to two seconds. */
const pollInterval = Schedule.min([
  Schedule.exponential(Duration.millis(100), 1.5),
  Schedule.spaced(Duration.seconds(2))
])

/** Looks between two broadcasts of the same bytes. */
const pollsPerRound = 12

export interface Search {
  readonly operations: OperationStore["Service"]
  readonly relayer: Relayer["Service"]
  readonly operationId: OperationId
  readonly transaction: SignedTransaction
  readonly find: FindReceipt
}

export const awaitReceipt = Effect.fn("awaitReceipt")(function* (search: Search) {
  const { find, operationId, operations, relayer, transaction } = search

  const mark = (state: "running" | "retrying") =>
    Effect.flatMap(DateTime.now, (now) => operations.transition(operationId, state, now, null))

  const look = Effect.flatMap(find(transaction), Effect.fromOption)

  // A refused broadcast is no reason not to look: the operation may be on chain already, sent before a crash.
  const round = Effect.gen(function* () {
    const sent = yield* Effect.result(relayer.broadcast(transaction))
    if (Result.isFailure(sent)) yield* mark("retrying")
    return yield* Effect.retry(look, {
      while: Cause.isNoSuchElementError,
      schedule: pollInterval,
      times: pollsPerRound
    })
  })

  const receipt = yield* round.pipe(
    Effect.tapError((error) => (Cause.isNoSuchElementError(error) ? Effect.void : mark("retrying"))),
    Effect.retry(Schedule.spaced(Duration.millis(500))),
    Effect.timeoutOption(searchFor)
  )
  if (Option.isNone(receipt)) {
    yield* mark("retrying")
    return null
  }
  yield* mark("running")
  return receipt.value satisfies ActionReceipt
}, Effect.orDie)
