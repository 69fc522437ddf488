/**
 * Checks due portfolios and starts the runs of those that have something to do.
 *
 * A portfolio stays due until its check is completed: then its next due time is written, in one transaction with the
 * accepted operation if it gets one. So a crash before loses nothing, and after it the operation is found again as
 * accepted. Launching is idempotent.
 */
import { Context, DateTime, Duration, Effect, Layer, Metric, Option, Ref } from "effect"
import { keepGoing } from "#domain/effects/keepGoing.ts"
import * as Metrics from "#domain/effects/Metrics.ts"
import { OperationLauncher } from "#domain/operation/OperationLauncher.ts"
import { OperationStore } from "#domain/operation/OperationStore.ts"
import { launchAll, makeRelaunchLost } from "#domain/operation/relaunchLost.ts"
import { makeCheckDrift } from "#domain/rebalance/checkDrift.ts"
import { type Concluded, DueStore } from "#domain/rebalance/DueStore.ts"
import { SchedulerSettings } from "#domain/rebalance/RebalanceSettings.ts"
import { PlanReader } from "#domain/rebalance/plan/PlanReader.ts"
import { InTransit } from "#domain/transfer/InTransit.ts"

/** Longer than a drift check. After it other processes claim what a process that died had claimed. */
const checkLease = Duration.seconds(10)
/** Batches of one tick, so that what else a tick does is never long put off. */
const maxBatches = 8
/** Pause while there is work, in milliseconds; at most the interval between ticks. */
const busyIntervalMs = 100

/**
 * Starts the runs that are due.
 *
 * **When to use**
 *
 * Use `tick` in the fiber of the engine and in tests, and `lastTickAt` for readiness.
 */
export class Scheduler extends Context.Service<
  Scheduler,
  {
    /**
     * Checks and launches until nothing more is due, this process has as many runs in flight as it may, or `maxBatches`
     * are done; returns how many portfolios it completed. The rest stays due, for other processes and for later.
     */
    readonly tick: Effect.Effect<number>
    /** End of the last tick; for readiness. */
    readonly lastTickAt: Effect.Effect<DateTime.Utc>
  }
>()("ballast/domain/rebalance/Scheduler") {
  static readonly layer = Layer.effect(
    Scheduler,
    Effect.gen(function* () {
      const operations = yield* OperationStore
      const store = yield* DueStore
      const checkDrift = yield* makeCheckDrift
      const relaunchLost = yield* makeRelaunchLost
      const launcher = yield* OperationLauncher
      const settings = yield* SchedulerSettings
      const lastTick = yield* Ref.make(yield* DateTime.now)

      const record = ({ left, onTarget }: Concluded, checked: number) =>
        Effect.forEach(
          [
            ["on_target", onTarget],
            ["run", checked - onTarget - left],
            ["left", left]
          ] as const,
          ([outcome, count]) =>
            count === 0 ? Effect.void : Metric.update(Metric.withAttributes(Metrics.driftChecks, { outcome }), count),
          { discard: true }
        )

      /** Answers how many are not due any more. */
      const dealWith = Effect.fnUntraced(function* (limit: number) {
        const now = yield* DateTime.now
        const { due, checkId } = yield* store.claim(now, DateTime.addDuration(now, checkLease), limit)
        if (due.length === 0) return 0
        const conclusions = yield* checkDrift(due)
        const concluded = yield* store.complete(yield* DateTime.now, checkId, conclusions)
        yield* launchAll(
          launcher,
          concluded.operationIds.map((operationId) => ({ operationId, kind: "rebalance" }))
        )
        yield* record(concluded, due.length)
        yield* Effect.logDebug("Due portfolios were checked").pipe(
          Effect.annotateLogs({
            checked: due.length,
            onTarget: concluded.onTarget,
            runs: concluded.operationIds.length,
            left: concluded.left
          })
        )
        return due.length - concluded.left
      })

      const measure = Effect.gen(function* () {
        const now = yield* DateTime.now
        const oldest = yield* operations.oldestDue(now)
        const age = Option.match(oldest, {
          onNone: () => 0,
          onSome: (dueAt) => Math.max(0, now.epochMilliseconds - dueAt.epochMilliseconds) / 1000
        })
        yield* Metric.update(Metrics.oldestDueAge, age)
      })

      const moveToCadence = Effect.gen(function* () {
        for (let batch = 0; batch < maxBatches; batch += 1) {
          if (!(yield* store.moveToCadence(yield* DateTime.now))) return
        }
      })

      const tick = Effect.gen(function* () {
        yield* measure
        yield* moveToCadence
        let count = yield* relaunchLost(settings.batch)
        for (let batch = 0; batch < maxBatches; batch += 1) {
          const limit = Math.min(settings.batch, yield* launcher.capacity)
          const done = limit > 0 ? yield* dealWith(limit) : 0
          count += done
          if (done < limit || limit === 0) break
        }
        const endedAt = yield* DateTime.now
        yield* Ref.set(lastTick, endedAt)
        yield* Metric.update(Metrics.schedulerLastTick, endedAt.epochMilliseconds / 1000)
        return count
      }).pipe(Effect.withSpan("Scheduler.tick"))

      return Scheduler.of({ tick, lastTickAt: Ref.get(lastTick) })
    })
  ).pipe(Layer.provide(PlanReader.layer), Layer.provide(InTransit.layer))

  /** The fiber that ticks for as long as the layer lives; a failed tick is logged and the next one tries again. */
  static readonly fiber = Layer.effectDiscard(
    Effect.gen(function* () {
      const scheduler = yield* Scheduler
      const { intervalMs } = yield* SchedulerSettings
      const round = Effect.map(scheduler.tick, (count) =>
        Duration.millis(count > 0 ? Math.min(busyIntervalMs, intervalMs) : intervalMs)
      )
      yield* keepGoing(round, { complaint: "A scheduler tick failed", afterFault: Duration.millis(intervalMs) })
    })
  )
}
