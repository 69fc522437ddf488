/**
 * One step of a run: answered from what is stored, or done and, unless it may be repeated, stored.
 *
 * A step needs no mailbox: the run does it itself and stores its result, in one transaction with what it wrote where it
 * is annotated so (`ClusterSchema.WithTransaction`). A step that cannot be stored leaves the run without an answer: the
 * run is left, and its next holder replays it over what the database has.
 */
import { Cause, Context, Data, Effect, Exit, Schema } from "effect"
import { ClusterSchema } from "effect/cluster"
import type { SqlClient } from "effect/sql"
import { Activity, Workflow, WorkflowEngine } from "effect/workflow"
import { Repeatable } from "#domain/operation/Repeatable.ts"
import { Superseding } from "#domain/operation/rounds.ts"
import { afterRound, supersededBy } from "#layers/engine/cluster/rounds.ts"
import type { StepHook } from "#layers/engine/cluster/StepHook.ts"
import { isTransient } from "#layers/engine/cluster/isTransient.ts"
import type { LocalRun } from "#layers/engine/cluster/LocalRun.ts"
import { RunFence } from "#layers/sql/run/RunFence.ts"
import { stepKey, type StepResult, type StepResults } from "#layers/sql/run/StepResults.ts"

const exit = Schema.toCodecJson(Schema.Exit(Schema.Any, Schema.Any, Schema.Defect()))
const encodeExit = Schema.encodeSync(exit)
const decodeExit = Schema.decodeUnknownSync(exit)

interface Stored {
  readonly value?: unknown
  readonly failure?: unknown
}

/**
 * Results of steps as they are stored: JSON of what succeeded, or of the failure.
 *
 * The exit's values must be JSON already.
 */
const encodeResult = (result: Exit.Exit<unknown, unknown>): string =>
  JSON.stringify((Exit.isSuccess(result) ? { value: result.value } : { failure: encodeExit(result) }) satisfies Stored)

const decodeResult = (stored: string): Exit.Exit<unknown, unknown> => {
  const { failure, value } = JSON.parse(stored) as Stored
  return failure === undefined ? Exit.succeed(value) : decodeExit(failure)
}

export interface Services {
  readonly sql: SqlClient.SqlClient
  readonly results: StepResults
  /**
   * Stores a step together with those of other runs; false when it was stored before, or another process has the run
   * now.
   */
  readonly record: (step: StepResult) => Effect.Effect<boolean, unknown>
  readonly stepHook: typeof StepHook.Service
}

/** What a body made: the value that the run goes on with, and what is stored of it. */
interface Made {
  readonly value: unknown
  readonly encoded: unknown
}

/** The failure is encoded. */
type Result = Workflow.Result<Made, unknown>

/**
 * What a step comes to. A value that was made just now is answered as it is: it was encoded to be stored, and reading
 * it back would make the same one. What an earlier holder of the run stored, and a failure, are still encoded.
 */
export type StepAnswer =
  | { readonly _tag: "Made"; readonly value: unknown }
  | { readonly _tag: "Stored"; readonly exit: Exit.Exit<unknown, unknown> }
  | Workflow.Suspended

type AnyActivity = Activity.Activity<Schema.Top, Schema.Top, never>

const encodeWith = (schema: Schema.Top) =>
  Schema.encodeEffect(Schema.toCodecJson(schema) as unknown as Schema.Codec<unknown, unknown>)

/** The body of an activity, with its answer encoded besides. */
const madeBy = ({ errorSchema, execute, successSchema }: AnyActivity) =>
  Effect.matchEffect(execute as Effect.Effect<unknown, unknown, WorkflowEngine.WorkflowInstance>, {
    onFailure: (error) => Effect.flatMap(Effect.orDie(encodeWith(errorSchema)(error)), Effect.fail),
    onSuccess: (value) => Effect.map(Effect.orDie(encodeWith(successSchema)(value)), (encoded) => ({ value, encoded }))
  })

const encodedIn = ({ exit }: { readonly exit: Exit.Exit<Made, unknown> }) => Exit.map(exit, ({ encoded }) => encoded)

const answerOf = (result: Result): StepAnswer => {
  if (result._tag === "Suspended") return result
  const { exit } = result
  return Exit.isSuccess(exit) ? { _tag: "Made", value: exit.value.value } : { _tag: "Stored", exit }
}

/** Takes a transaction back whose step did not succeed. */
class Undone extends Data.TaggedError("Undone")<{ readonly result: Result }> {}

/** The step was done before, or another process has the run now. */
class NotOurs extends Data.TaggedError("NotOurs")<{}> {}

export const runActivity = ({ stepHook, record, results, sql }: Services) =>
  Effect.fnUntraced(function* (
    run: LocalRun,
    activity: Activity.Any,
    attempt: number
  ): Effect.fn.Return<StepAnswer, never, WorkflowEngine.WorkflowInstance> {
    const { executionId, generation, requestId } = run
    const step = `${activity.name}/${attempt}`
    const known = run.steps.get(step)
    if (known !== undefined) return { _tag: "Stored", exit: decodeResult(known) }

    const stepOf = (result: Workflow.Complete<Made, unknown>): StepResult => ({
      requestId,
      executionId,
      generation,
      step,
      result: encodeResult(encodedIn(result))
    })

    const isRepeatable = Context.get(activity.annotations, Repeatable)
    const { workflow } = yield* WorkflowEngine.WorkflowInstance
    const body: Effect.Effect<Result> = madeBy(activity as AnyActivity).pipe(
      Workflow.intoResult,
      Effect.provideService(
        WorkflowEngine.WorkflowInstance,
        WorkflowEngine.WorkflowInstance.initial(workflow, executionId)
      ),
      Effect.provideService(Activity.CurrentAttempt, attempt),
      Effect.provideService(RunFence, run)
    )

    const keep = Effect.fnUntraced(function* (result: Result) {
      if (result._tag === "Suspended") {
        run.hasStored = true
        return result
      }
      if (Exit.isFailure(result.exit) && isTransient(result.exit.cause))
        return yield* Effect.failCause(result.exit.cause)
      if (Exit.isSuccess(result.exit) && isRepeatable(result.exit.value.value)) return result
      if (!(yield* record(stepOf(result)))) return yield* new NotOurs()
      run.hasStored = true
      return result
    })

    const together = sql
      .withTransaction(
        Effect.gen(function* () {
          const result = yield* body
          if (result._tag === "Suspended" || Exit.isFailure(result.exit)) return yield* new Undone({ result })
          const recorded = yield* results.recordWithin(stepOf(result))
          if (!recorded.has(stepKey(executionId, step))) return yield* new NotOurs()
          run.hasStored = true
          return result
        })
      )
      .pipe(Effect.catchTag("Undone", ({ result }) => keep(result)))

    const isTogether = Context.get(activity.annotations, ClusterSchema.WithTransaction)
    const replay = Effect.sync((): StepAnswer => {
      run.mustReplay = true
      return new Workflow.Suspended({})
    })
    const rounds = Context.get(activity.annotations, Superseding)
    /** What is not deleted now is deleted after the next round. */
    const deleteSuperseded = (result: Result) => {
      const superseded = supersededBy(run, step, rounds)
      if (result._tag === "Complete")
        run.steps = afterRound(run.steps, { step, result: encodeResult(encodedIn(result)), superseded })
      return superseded.length === 0 ? Effect.void : Effect.ignore(results.delete(run, superseded))
    }
    const reported = Effect.tap(isTogether ? together : Effect.flatMap(body, keep), (result) =>
      Effect.suspend(() => {
        stepHook(run.payload)
        return rounds.length === 0 ? Effect.void : deleteSuperseded(result)
      })
    )
    return yield* Effect.catchCause(Effect.map(reported, answerOf), (cause: Cause.Cause<unknown>) => {
      const failure = cause.reasons.find(Cause.isFailReason)?.error
      if (failure instanceof NotOurs) return replay
      if (failure === undefined && !isTransient(cause)) return Effect.failCause(cause as Cause.Cause<never>)
      return Effect.andThen(Effect.logWarning(`Step ${step} of ${executionId} could not be stored`, cause), replay)
    })
  })
