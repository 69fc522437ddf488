/**
 * Counts the runs that are suspended, and raises an alarm as long as there are any: only an operator resumes them.
 * Another one is for runs of a version that no process seems to carry out.
 */
import { DateTime, Duration, Effect, Layer, Metric } from "effect"
import { SqlClient } from "effect/sql"
import { keepGoingEvery } from "#domain/effects/keepGoing.ts"
import * as Metrics from "#domain/effects/Metrics.ts"
import { SuspendedRuns } from "#domain/operation/SuspendedRuns.ts"
import { supportedBy, RunsInFlight } from "#layers/engine/cluster/RunsInFlight.ts"
import { makeMessageRows } from "#layers/sql/run/makeMessageRows.ts"
import * as SqlSuspendedRuns from "#layers/sql/operation/SuspendedRuns.ts"

const checkInterval = Duration.seconds(15)
/** Time for which a rolling upgrade leaves such runs to the processes of the previous release, about. */
const leftFor = Duration.minutes(5)

export const RunAlarm = Layer.effectDiscard(
  Effect.gen(function* () {
    const suspended = yield* SuspendedRuns
    const runs = yield* RunsInFlight
    const rows = makeMessageRows(yield* SqlClient.SqlClient)
    const check = Effect.gen(function* () {
      const count = yield* suspended.count
      yield* Metric.update(Metrics.runsSuspended, count)
      if (count > 0)
        yield* Effect.logError(
          `${count} runs are suspended and wait for an operator: npm run cli -- runs list shows which and why`
        )
      const at = DateTime.subtractDuration(yield* DateTime.now, leftFor)
      const left = yield* rows.leftToOthers({ ...supportedBy(runs.versions), at })
      if (left > 0)
        yield* Effect.logError(
          `${left} runs are of a version that this process does not carry out, and wait: start a process that does`
        )
    })
    const complaint = "Suspended runs could not be counted"
    yield* keepGoingEvery(check, { interval: checkInterval, complaint, level: "Warn" })
  })
).pipe(Layer.provide(SqlSuspendedRuns.layer))
