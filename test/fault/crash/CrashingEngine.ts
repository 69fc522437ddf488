/**
 * The product's workflow runtime with a boundary around whatever it does: three for each step, for each sleep that is
 * given up to the database, for the launch and for the end of a run.
 *
 * Of a step: before its body; after its body and before its result is stored, which for a step with a transaction is
 * before the commit; and after its result is stored. A body that a stored result answers passes none of them.
 */
import { Duration, Effect, Layer, Option, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { type Activity, WorkflowEngine } from "effect/workflow"
import { WorkflowRuntime } from "#layers/engine/WorkflowRuntime.ts"
import { Boundaries } from "#test/fault/crash/Boundaries.ts"

type Engine = WorkflowEngine.WorkflowEngine["Service"]

/** However long a run sleeps, here it sleeps no longer than this, in the time of the hasty clock. */
const longestSleep = Duration.seconds(6)

const sleepInMemory = "DurableClock/"

const make = Effect.gen(function* () {
  const inner = yield* WorkflowEngine.WorkflowEngine
  const sql = yield* SqlClient.SqlClient
  const { nameOf, pass, passAfter } = yield* Boundaries

  /**
   * Passes a boundary once the execution's row is as the condition says: the engine writes it after the body is left.
   */
  const passOnce = (boundary: string, executionId: string, column: "asleep" | "finished") => {
    const written = sql<{ readonly asleep: boolean; readonly finished: boolean }>`
      SELECT NOT is_claimed AND reply_id IS NOT NULL AND finished_at IS NULL AS asleep,
      finished_at IS NOT NULL AS finished
      FROM workflow_messages WHERE entity_id = ${executionId} AND tag = 'run'`.pipe(
      Effect.filterOrFail(([row]) => row?.[column] === true),
      Effect.retry(Schedule.spaced("5 millis")),
      Effect.timeoutOption("5 seconds"),
      Effect.map(Option.isSome),
      Effect.orElseSucceed(() => false)
    )
    return passAfter(boundary, written)
  }

  const register = (workflow: any, execute: any) =>
    inner.register(workflow, (payload: any, executionId: string) => {
      const run = nameOf(workflow._tag, executionId)
      return (execute(payload, executionId) as Effect.Effect<unknown>).pipe(
        Effect.tap(() =>
          Effect.andThen(pass(`${run} ended, not stored`), passOnce(`${run} ended, stored`, executionId, "finished"))
        ),
        Effect.provideService(WorkflowEngine.WorkflowEngine, crashing)
      )
    })

  const execute = (workflow: any, options: Parameters<typeof inner.execute>[1]) => {
    const run = nameOf(workflow._tag, options.executionId)
    const launched = inner.execute(workflow, options) as Effect.Effect<unknown>
    return pass(`${run} launched, not stored`).pipe(
      Effect.andThen(launched),
      Effect.tap(() => pass(`${run} launched, stored`))
    )
  }

  const activityExecute = (activity: Activity.Activity, attempt: number) =>
    Effect.gen(function* () {
      const { executionId, workflow } = yield* WorkflowEngine.WorkflowInstance
      const step = `${nameOf(workflow._tag, executionId)} ${activity.name}`
      let isDone = false
      const body = activity.name.startsWith(sleepInMemory) ? Effect.sleep(Duration.millis(20)) : activity.execute
      const observed = Object.create(activity, {
        execute: {
          // A fault of the body is a result, too.
          value: Effect.gen(function* () {
            yield* pass(`${step} begins`)
            const exit = yield* Effect.exit(body)
            yield* pass(`${step} done, not stored`)
            isDone = true
            return yield* exit
          })
        }
      })
      const result = yield* inner.activityExecute(observed, attempt)
      if (isDone && result._tag === "Complete") yield* pass(`${step} done, stored`)
      return result
    })

  const scheduleClock: Engine["scheduleClock"] = (workflow, { clock, executionId }) =>
    Effect.gen(function* () {
      const step = `${nameOf(workflow._tag, executionId)} ${clock.name}`
      yield* pass(`${step} timer, not stored`)
      const duration = Duration.min(clock.duration, longestSleep)
      yield* inner.scheduleClock(workflow, { executionId, clock: { ...clock, duration } })
      yield* pass(`${step} timer, stored`)
      yield* passOnce(`${step} asleep`, executionId, "asleep")
    })

  const crashing: Engine = WorkflowEngine.WorkflowEngine.of({
    ...inner,
    register: register as Engine["register"],
    execute: execute as Engine["execute"],
    activityExecute: activityExecute as Engine["activityExecute"],
    scheduleClock
  })
  return crashing
})

export const CrashingRuntime = Layer.effect(WorkflowEngine.WorkflowEngine, make).pipe(
  Layer.provideMerge(WorkflowRuntime)
)
