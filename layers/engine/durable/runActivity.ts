/**
 * One step of a run: answered from what is stored, or done and stored.
 *
 * A step that cannot be stored leaves the run without an answer: the run suspends, and is replayed over what the database
 * knows, if it is still this process's.
 */
import { Cause, Context, Data, Effect, Exit, Option } from "effect"
import { ClusterSchema } from "effect/cluster"
import { type Activity, Workflow, WorkflowEngine } from "effect/workflow"
import type { LocalRun } from "#layers/engine/durable/LocalRun.ts"
import type { Runner } from "#layers/engine/durable/Runner.ts"
import type { RunStorage } from "#layers/engine/durable/RunStorage.ts"
import { decodeResult, encodeResult, isPassing } from "#layers/engine/durable/stepResult.ts"
import type { ExecutionStore } from "#layers/sql/ExecutionStore.ts"

export interface Services {
  readonly store: ExecutionStore["Service"]
  readonly storage: RunStorage
  readonly runner: Runner["Service"]
}

type Result = Workflow.Result<unknown, unknown>

/** Takes a transaction back whose step did not succeed. */
class Undone extends Data.TaggedError("Undone")<{ readonly result: Result }> {}

/** The step was done before, or the run is somebody else's now. */
class NotOurs extends Data.TaggedError("NotOurs")<{}> {}

export const runActivity = ({ runner, storage, store }: Services) =>
  Effect.fnUntraced(function* (run: LocalRun, activity: Activity.Any, attempt: number) {
    const step = `${activity.name}/${attempt}`
    const known = run.steps.get(step)
    if (known !== undefined) return new Workflow.Complete({ exit: decodeResult(known) })

    const { executionId, registration } = run
    const stepOf = Effect.fnUntraced(function* (exit: Exit.Exit<unknown, unknown>) {
      return { executionId, step, result: encodeResult(exit), owner: yield* runner.id }
    })

    const encoded = activity.executeEncoded as Effect.Effect<unknown, unknown, WorkflowEngine.WorkflowInstance>
    const body: Effect.Effect<Result> = encoded.pipe(
      Workflow.intoResult,
      Effect.provideService(
        WorkflowEngine.WorkflowInstance,
        WorkflowEngine.WorkflowInstance.initial(registration.workflow, executionId)
      )
    )

    const keep = Effect.fnUntraced(function* (result: Result) {
      if (result._tag === "Suspended") return result
      if (Exit.isFailure(result.exit) && isPassing(result.exit.cause)) return yield* Effect.failCause(result.exit.cause)
      if (!(yield* storage.record(yield* stepOf(result.exit)))) return yield* new NotOurs()
      return result
    })

    const together = store
      .transaction(
        Effect.gen(function* () {
          const result = yield* body
          if (result._tag === "Suspended" || Exit.isFailure(result.exit)) return yield* new Undone({ result })
          const recorded = yield* store.record([yield* stepOf(result.exit)])
          if (recorded.size === 0) return yield* new NotOurs()
          return result
        })
      )
      .pipe(Effect.catchTag("Undone", ({ result }) => keep(result)))

    const isTogether = Context.get(activity.annotations, ClusterSchema.WithTransaction)
    const replay = Effect.sync((): Result => {
      run.mustReplay = true
      return new Workflow.Suspended({})
    })
    return yield* Effect.catchCause(isTogether ? together : Effect.flatMap(body, keep), (cause) => {
      const isOurFault = !Cause.hasFails(cause) && !isPassing(cause)
      if (Cause.hasInterrupts(cause) || isOurFault) return Effect.failCause(cause as Cause.Cause<never>)
      if (Option.exists(Cause.findErrorOption(cause), (error) => error instanceof NotOurs)) return replay
      return Effect.andThen(Effect.logWarning(`Step ${step} of ${executionId} could not be stored`, cause), replay)
    })
  })
