/**
 * Counts the runs that are suspended, and raises an alarm as long as there are any: nobody but an operator moves them.
 */
import { Duration, Effect, Layer, Metric, Schedule } from "effect"
import * as Metrics from "#domain/Metrics.ts"
import { SuspendedRuns } from "#domain/operation/SuspendedRuns.ts"
import * as SqlSuspendedRuns from "#layers/sql/run/SuspendedRuns.ts"

const checkInterval = Duration.seconds(15)

export const RunAlarm = Layer.effectDiscard(
  Effect.gen(function* () {
    const suspended = yield* SuspendedRuns
    const look = Effect.gen(function* () {
      const count = yield* suspended.count
      yield* Metric.update(Metrics.runsSuspended, count)
      if (count > 0)
        yield* Effect.logError(
          `${count} runs are suspended and wait for an operator: npm run cli -- runs list says which and why`
        )
    })
    yield* look.pipe(
      Effect.catchCause((cause) => Effect.logWarning("Suspended runs could not be counted", cause)),
      Effect.repeat(Schedule.spaced(checkInterval)),
      Effect.forkScoped
    )
  })
).pipe(Layer.provide(SqlSuspendedRuns.layer))
