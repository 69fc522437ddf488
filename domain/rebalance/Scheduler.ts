/**
 * Starts the runs of due portfolios, and operations of any kind whose launch was lost in a crash.
 *
 * Claiming writes the accepted operation and the next due time in one transaction, so a crash between claim and launch
 * loses nothing: the operation is found again as accepted. Launching is idempotent.
 */
import { Cause, Context, DateTime, Duration, Effect, Layer, Metric, Option, Ref } from "effect"
import * as Metrics from "#domain/Metrics.ts"
import { type Launch, OperationLauncher } from "#domain/operation/OperationLauncher.ts"
import { OperationStore } from "#domain/operation/OperationStore.ts"
import { Settings } from "#domain/Settings.ts"

/** An operation that is still accepted after this long was not launched, or its launch died. */
const lostAfter = Duration.seconds(5)
/** As many as are claimed at once share the statements of their launches. */
const launchConcurrency = 256
/** While there is work, in milliseconds; at most the interval between ticks. */
const busyIntervalMs = 100

export class Scheduler extends Context.Service<
  Scheduler,
  {
    /**
     * Claims and launches until nothing more is due or this process has as many runs in flight as it may; answers how
     * many it launched. What is due beyond that stays unclaimed, for other processes and for later.
     */
    readonly tick: Effect.Effect<number>
    /** When the last tick ended; for readiness. */
    readonly lastTickAt: Effect.Effect<DateTime.Utc>
  }
>()("ballast/domain/rebalance/Scheduler") {
  static readonly layer = Layer.effect(
    Scheduler,
    Effect.gen(function* () {
      const store = yield* OperationStore
      const launcher = yield* OperationLauncher
      const { scheduler } = yield* Settings
      const lastTick = yield* Ref.make(yield* DateTime.now)

      const launchAll = (operations: ReadonlyArray<Launch>) =>
        Effect.forEach(operations, launcher.launch, { concurrency: launchConcurrency, discard: true })

      const claim = Effect.fnUntraced(function* (limit: number) {
        const claimed = yield* store.claimDue(yield* DateTime.now, limit)
        yield* launchAll(claimed.map((operationId) => ({ operationId, kind: "rebalance" })))
        return claimed.length
      })

      const recover = Effect.gen(function* () {
        const lost = yield* store.accepted(DateTime.subtractDuration(yield* DateTime.now, lostAfter), scheduler.batch)
        yield* launchAll(lost)
        return lost.length
      })

      const measure = Effect.gen(function* () {
        const now = yield* DateTime.now
        const oldest = yield* store.oldestDue(now)
        const age = Option.match(oldest, {
          onNone: () => 0,
          onSome: (dueAt) => Math.max(0, now.epochMilliseconds - dueAt.epochMilliseconds) / 1000
        })
        yield* Metric.update(Metrics.oldestDueAge, age)
      })

      const tick = Effect.gen(function* () {
        yield* measure
        let launched = yield* recover
        for (;;) {
          const limit = Math.min(scheduler.batch, yield* launcher.capacity)
          const claimed = limit > 0 ? yield* claim(limit) : 0
          launched += claimed
          if (claimed < limit || limit === 0) break
        }
        const endedAt = yield* DateTime.now
        yield* Ref.set(lastTick, endedAt)
        yield* Metric.update(Metrics.schedulerLastTick, endedAt.epochMilliseconds / 1000)
        return launched
      }).pipe(Effect.withSpan("Scheduler.tick"))

      return Scheduler.of({ tick, lastTickAt: Ref.get(lastTick) })
    })
  )

  /** The fiber that ticks for as long as the layer lives; a failed tick is logged and the next one tries again. */
  static readonly fiber = Layer.effectDiscard(
    Effect.gen(function* () {
      const scheduler = yield* Scheduler
      const settings = yield* Settings
      const { intervalMs } = settings.scheduler
      const round = Effect.gen(function* () {
        const launched = yield* scheduler.tick
        yield* Effect.sleep(Duration.millis(launched > 0 ? Math.min(busyIntervalMs, intervalMs) : intervalMs))
      }).pipe(
        Effect.catchCause((cause) =>
          Cause.hasInterrupts(cause)
            ? Effect.failCause(cause)
            : Effect.andThen(
                Effect.logError("A scheduler tick failed", cause),
                Effect.sleep(Duration.millis(intervalMs))
              )
        )
      )
      yield* Effect.forkScoped(Effect.forever(round))
    })
  )
}
