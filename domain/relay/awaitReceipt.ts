/**
 * Sends stored bytes and polls for their receipt, for a bounded time; null when the chain has not answered by then.
 * Safe to repeat from the start: the same bytes again change nothing.
 */
import { Cause, DateTime, Duration, Effect, Option, Result, Schedule } from "effect"
import type { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import { receiptWaits } from "#domain/operation/waits.ts"
import type { OperationStore } from "#domain/operation/OperationStore.ts"
import type { Relayer } from "#domain/relay/Relayer.ts"
import type { AttemptId, RelayStore } from "#domain/relay/RelayStore.ts"
import type { ActionReceipt, SignedTransaction } from "#domain/relay/Transaction.ts"
import { spanIsAbout } from "#domain/effects/spanAttributes.ts"

/** Reads from the chain what became of the included action; none while that is open. */
export type FindReceipt = (
  transaction: SignedTransaction
) => Effect.Effect<Option.Option<ActionReceipt>, ChainUnavailable>

/** 100 ms at first, for chains with fast blocks, then up to two seconds. */
const pollInterval = Schedule.min([
  Schedule.exponential(Duration.millis(100), 1.5),
  Schedule.spaced(Duration.seconds(2))
])

/** Polls between two broadcasts of the same bytes. */
const pollsPerRound = 12

export interface Search {
  readonly operations: OperationStore["Service"]
  readonly store: RelayStore["Service"]
  readonly relayer: Relayer["Service"]
  readonly attempt: AttemptId
  readonly find: FindReceipt
  /** The attempt's first search; the later ones say nothing that this has not said. */
  readonly isFirst: boolean
  /** How long the search lasts. */
  readonly searchFor: Duration.Duration
}

export const awaitReceipt = Effect.fn("awaitReceipt")(function* (search: Search) {
  const { attempt, find, isFirst, operations, relayer, searchFor, store } = search
  const { chainId, operationId } = attempt

  /** Whether the operation is in the state `retrying`, by this search or by what the run did before. */
  let isRetrying = false
  const setState = (to: "running" | "retrying") =>
    Effect.flatMap(DateTime.now, (at) => {
      isRetrying ||= to === "retrying"
      return operations.transition({ operationId, to, at, error: null })
    })

  let why = `chain ${chainId} has not shown yet what became of it`
  const saySought = Effect.flatMap(DateTime.now, (at) =>
    operations.append({ operationId, at, kind: receiptWaits, payload: { reason: why } })
  )

  // A refused broadcast does not end the polls: the operation may be on chain already, sent before a crash.
  const round = Effect.gen(function* () {
    const stored = yield* Effect.map(store.sent(attempt), Option.getOrThrow)
    const { transaction } = stored
    yield* spanIsAbout(transaction)
    isRetrying ||= stored.isRetrying
    const sent = yield* Effect.result(relayer.broadcast(transaction))
    if (Result.isFailure(sent)) yield* setState("retrying")
    return yield* Effect.retry(Effect.flatMap(find(transaction), Effect.fromOption), {
      while: Cause.isNoSuchElementError,
      schedule: pollInterval,
      times: pollsPerRound
    })
  })

  const receipt = yield* round.pipe(
    Effect.tapError((error) => {
      if (Cause.isNoSuchElementError(error)) return Effect.void
      why = error.message
      return setState("retrying")
    }),
    Effect.retry(Schedule.spaced(Duration.millis(500))),
    Effect.timeoutOption(searchFor)
  )
  if (Option.isNone(receipt)) {
    yield* setState("retrying")
    if (isFirst) yield* saySought
    return null
  }
  if (isRetrying) yield* setState("running")
  return receipt.value satisfies ActionReceipt
}, Effect.orDie)
