/**
 * Watches one transfer until provider and chain agree on how it ended. It has no limit in time: it polls until value
 * that left is found. The state is `retrying` while provider or chain do not answer, disagree, or are late.
 */
import { Context, DateTime, Duration, Effect, Layer, Option, Schema, Schedule } from "effect"
import { Activity, DurableClock } from "effect/workflow"
import type { OperationId } from "#domain/values/Ids.ts"
import type { InWorkflow } from "#domain/operation/InWorkflow.ts"
import { roundToGoOnAt, Superseding } from "#domain/operation/rounds.ts"
import { transferUnclear } from "#domain/operation/waits.ts"
import { OperationStore } from "#domain/operation/OperationStore.ts"
import type { Transfer } from "#domain/transfer/Transfer.ts"
import { type Observed, TransferWatcher } from "#domain/transfer/TransferWatcher.ts"
import { TransientFault } from "#domain/errors/TransientFault.ts"

/** How often a transfer between chains is polled. Tests make it shorter. */
export const BridgeTiming = Context.Reference("ballast/domain/transfer/BridgeTiming", {
  defaultValue: () => ({
    /** Polls of one round. */
    maxChecks: 6,
    /** The pause between two of them: fast bridges take seconds. */
    pollInterval: Schedule.min([
      Schedule.exponential(Duration.millis(500), 1.5),
      Schedule.spaced(Duration.seconds(5))
    ]) as Schedule.Schedule<unknown>,
    /**
     * The pause after a round, numbered from zero: half a minute after a minute, later ten minutes, as a bridge may
     * take hours.
     */
    waitFor: (round: number): Duration.Duration => Duration.seconds(Math.min(600, 15 * 2 ** Math.min(round, 6)))
  })
})

/**
 * The workflow that watches one transfer.
 *
 * **When to use**
 *
 * Use as the body that the engine runs for operations of kind `bridge`. They are accepted by `TransferLedger.open`.
 */
export class BridgeRun extends Context.Service<
  BridgeRun,
  {
    /** The body of the workflow. */
    readonly execute: (operationId: OperationId) => Effect.Effect<void, never, InWorkflow>
  }
>()("ballast/domain/transfer/BridgeRun") {
  static readonly layer = Layer.effect(
    BridgeRun,
    Effect.gen(function* () {
      const execute = makeExecute(yield* OperationStore, yield* TransferWatcher, yield* BridgeTiming)
      return BridgeRun.of({ execute })
    })
  )
}

const makeExecute = (
  operations: OperationStore["Service"],
  watcher: TransferWatcher["Service"],
  { pollInterval, maxChecks, waitFor }: typeof BridgeTiming.Service
) => {
  const enter = Effect.fnUntraced(function* (operationId: OperationId, state: "running" | "retrying") {
    return yield* operations.transition({ operationId, to: state, at: yield* DateTime.now, error: null })
  })

  /** Records once, when it begins, that a transfer is not as it should be. */
  const reportState = Effect.fnUntraced(function* ({ operationId }: Transfer, observed: Observed) {
    if (observed._tag === "Open") yield* enter(operationId, "running")
    if (observed._tag !== "Unclear" || !(yield* enter(operationId, "retrying"))) return
    yield* operations.append({
      operationId,
      at: yield* DateTime.now,
      kind: transferUnclear,
      payload: { reason: observed.detail }
    })
  })

  /** True once the entry is closed. */
  const observeOnce = Effect.fnUntraced(function* (operationId: OperationId) {
    const transfer = yield* watcher.find(operationId)
    if (Option.isNone(transfer)) return yield* Effect.die(new Error(`Operation ${operationId} watches no transfer`))
    if (transfer.value.state !== "open") return true
    const observed = yield* watcher.observe(transfer.value)
    yield* reportState(transfer.value, observed)
    return observed._tag === "Ended"
  })

  /** No fault, of the database or of ours, may end the watch: nothing else would find what left. */
  const observeAgain = (operationId: OperationId) =>
    observeOnce(operationId).pipe(
      Effect.catchDefect(
        Effect.fnUntraced(function* (defect) {
          const isTransient = yield* TransientFault
          yield* isTransient(defect)
            ? Effect.logWarning("The database did not answer a check of a transfer", defect)
            : Effect.logError("A check of a transfer failed by a fault of the service", defect)
          return false
        })
      ),
      Effect.annotateLogs({ operationId })
    )

  const round = (operationId: OperationId, number: number) =>
    Activity.make({
      name: `watch/${number}`,
      success: Schema.Boolean,
      execute: observeAgain(operationId).pipe(
        Effect.repeat({ until: (ended) => ended, times: maxChecks - 1, schedule: pollInterval })
      )
    }).annotate(Superseding, ["watch", "wait"])

  return Effect.fnUntraced(function* (operationId: OperationId) {
    yield* Activity.make({ name: "begin", execute: Effect.asVoid(enter(operationId, "running")) })
    for (let number = yield* roundToGoOnAt("watch"); ; number++) {
      if (yield* round(operationId, number)) return
      // Even the shortest wait gives the slot up.
      yield* DurableClock.sleep({
        name: `wait/${number}`,
        duration: waitFor(number - 1),
        inMemoryThreshold: Duration.zero
      })
    }
  })
}
