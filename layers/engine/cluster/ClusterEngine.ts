/**
 * The workflow engine of effect/cluster, with steps and timers of our own.
 *
 * The cluster decides which process has a run, wakes it and delivers its signals. Steps and timers are rows of the run
 * that need no messages, and a run that waits for a timer is a message whose time has not come. A body that ends by a
 * defect is begun again, and suspended with its cause when that does not help; one that meets a fault of the database
 * goes on afterwards.
 */
import { Cause, Clock, Context, DateTime, Duration, Effect, Exit, Layer, Metric, Option, Schema, Fiber } from "effect"
import { ClusterWorkflowEngine, Sharding } from "effect/cluster"
import { SqlClient } from "effect/sql"
import { Workflow, WorkflowEngine } from "effect/workflow"
import { batched } from "#domain/effects/batched.ts"
import { keepGoingEvery } from "#domain/effects/keepGoing.ts"
import * as Metrics from "#domain/effects/Metrics.ts"
import { LatestRound } from "#domain/operation/rounds.ts"
import { WorkflowVersion } from "#domain/operation/WorkflowVersion.ts"
import { StepHook } from "#layers/engine/cluster/StepHook.ts"
import { isTransient } from "#layers/engine/cluster/isTransient.ts"
import type { LocalRun } from "#layers/engine/cluster/LocalRun.ts"
import { RunCalls } from "#layers/engine/cluster/RunCalls.ts"
import { runActivity } from "#layers/engine/cluster/runActivity.ts"
import { latestRound } from "#layers/engine/cluster/rounds.ts"
import { RunsInFlight } from "#layers/engine/cluster/RunsInFlight.ts"
import { makeStepResults, stepKey, type StepResult } from "#layers/sql/run/StepResults.ts"
import { endTimers, timerStep } from "#layers/sql/run/wakeRun.ts"

/** Long enough for statements that are under way, and shorter than what orchestrators give a process to end. */
const timeout = Duration.seconds(5)

/**
 * Bounds how long a shard waits for a body that is interrupted.
 *
 * A shard moves and a process ends only once the bodies of their runs have ended. A step may be in what cannot be
 * interrupted, as a commit on a connection whose other end is gone. Such a body is left behind after a while: its run
 * may be claimed anew, and whatever it still writes names a generation that has passed.
 */
const abandonAfterTimeout =
  (executionId: string) =>
  <A, E, R>(body: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(Effect.forkDetach(body, { startImmediately: true }), (fiber) =>
        Effect.onInterrupt(restore(Fiber.join(fiber)), () =>
          Effect.flatMap(Effect.timeoutOption(Fiber.interrupt(fiber), timeout), (ended) =>
            Option.isSome(ended)
              ? Effect.void
              : Effect.logWarning(
                  `Run ${executionId} cannot be interrupted; it is left behind, and stores nothing more`
                )
          )
        )
      )
    )

type Engine = WorkflowEngine.WorkflowEngine["Service"]
type Instance = WorkflowEngine.WorkflowInstance["Service"]

const betweenCounts = Duration.seconds(1)

const make = Effect.gen(function* () {
  const inner = yield* WorkflowEngine.WorkflowEngine
  const sharding = yield* Sharding.Sharding
  const sql = yield* SqlClient.SqlClient
  const runs = yield* RunsInFlight
  const calls = yield* RunCalls
  const results = makeStepResults(sql)
  const record = yield* batched(
    ({ executionId, step }) => stepKey(executionId, step),
    (steps: ReadonlyArray<StepResult>) =>
      Effect.map(
        results.record(steps),
        (recorded) =>
          ({ executionId, step }: StepResult) =>
            recorded.has(stepKey(executionId, step))
      )
  )
  const read = yield* batched(
    (executionId) => executionId,
    (executionIds: ReadonlyArray<string>) =>
      Effect.map(results.read(executionIds), (found) => (executionId: string) => found.get(executionId)!)
  )
  const activity = runActivity({ sql, results, record, stepHook: yield* StepHook })
  /** The run of a body that is under way; one that was lost keeps the generation that it had. */
  const bodies = new WeakMap<Instance, LocalRun>()

  const begin = Effect.fnUntraced(function* (instance: Instance, payload: object) {
    const { executionId } = instance
    const claim = runs.ofExecution(executionId)
    if (claim === undefined) return yield* Effect.interrupt
    const { generation, isWoken, requestId, tries } = claim
    if (isWoken) yield* endTimers(sql, { executionId, generation }, yield* DateTime.now)
    const isNew = generation === 1n && claim.run === undefined
    const steps = isNew ? new Map<string, string>() : yield* read(executionId)
    const run: LocalRun = {
      requestId,
      executionId,
      generation,
      payload,
      tries,
      steps,
      hasStored: false,
      mustReplay: false,
      wakeAt: Infinity,
      defect: undefined,
      blocked: undefined
    }
    claim.run = run
    bodies.set(instance, run)
    return run
  })

  /** Leaves the body of a run; what is to become of it is in the run. */
  const leave = Effect.fnUntraced(function* (
    instance: Instance,
    run: LocalRun | undefined,
    cause: Cause.Cause<unknown>
  ) {
    if (Cause.hasInterruptsOnly(cause)) return yield* Effect.failCause(cause as Cause.Cause<never>)
    if (isTransient(cause) || run === undefined) {
      yield* Effect.logWarning(`Run ${instance.executionId} met a fault of the database and goes on later`, cause)
      if (run !== undefined) run.mustReplay = true
    } else {
      yield* Effect.logError(`Run ${instance.executionId} met a defect; it begins again`, cause)
      run.defect = Cause.pretty(cause)
    }
    return yield* Workflow.suspend(instance)
  })

  const register: Engine["register"] = (workflow, execute) =>
    Effect.andThen(
      inner.register(workflow, (payload, executionId) =>
        Effect.flatMap(WorkflowEngine.WorkflowInstance, (instance) =>
          Effect.matchCauseEffect(begin(instance, payload as object), {
            onFailure: (cause) => leave(instance, undefined, cause),
            onSuccess: (run) =>
              (execute(payload, executionId) as Effect.Effect<never>).pipe(
                Effect.provideService(WorkflowEngine.WorkflowEngine, engine),
                Effect.provideService(LatestRound, latestRound(run)),
                Effect.catchCause((cause) => leave(instance, run, cause)),
                abandonAfterTimeout(executionId)
              )
          })
        )
      ),
      Effect.acquireRelease(
        Effect.sync(() => {
          runs.versions.set(`Workflow/${workflow._tag}`, Context.get(workflow.annotations, WorkflowVersion))
        }),
        () => Effect.sync(() => runs.versions.delete(`Workflow/${workflow._tag}`))
      )
    )

  /** A stored result that this version cannot read is no failure of the run: an operator must act. */
  const activityExecute = ((self, attempt) =>
    Effect.gen(function* () {
      const instance = yield* WorkflowEngine.WorkflowInstance
      const run = bodies.get(instance)
      if (run === undefined) return new Workflow.Suspended({})
      const answer = yield* activity(run, self, attempt)
      if (answer._tag === "Suspended") return answer
      if (answer._tag === "Made") return new Workflow.Complete({ exit: Exit.succeed(answer.value) })
      const exit = Exit.map(answer.exit, (value) => value ?? null)
      const schema = self.exitSchemaPartial as unknown as Schema.Codec<Exit.Exit<unknown, unknown>, unknown>
      return yield* Schema.decodeEffect(schema)(exit).pipe(
        Effect.map((decoded) => new Workflow.Complete({ exit: decoded })),
        Effect.catchCause((cause) =>
          Effect.sync(() => {
            run.blocked = `The stored result of step ${self.name} cannot be read: ${Cause.pretty(cause)}`
            return new Workflow.Suspended({})
          })
        )
      )
    })) as Engine["activityExecute"]

  const scheduleClock: Engine["scheduleClock"] = (_, { clock, executionId }) =>
    Effect.gen(function* () {
      const instance = yield* Effect.serviceOption(WorkflowEngine.WorkflowInstance)
      const body = Option.map(instance, (one) => bodies.get(one))
      // A body that was left behind still has the generation that it had.
      const run = Option.getOrElse(body, () => runs.ofExecution(executionId)?.run)
      const step = timerStep(clock.deferred.name)
      if (run === undefined || run.steps.has(step)) return
      const wakeAt = (yield* Clock.currentTimeMillis) + Duration.toMillis(clock.duration)
      const result = JSON.stringify({ value: wakeAt })
      const isStored = yield* record({
        requestId: run.requestId,
        executionId,
        generation: run.generation,
        step,
        result
      }).pipe(
        Effect.catchCause((cause) =>
          Effect.as(Effect.logWarning(`A timer of ${executionId} could not be stored`, cause), false)
        )
      )
      run.hasStored ||= isStored
      if (isStored) run.steps = new Map([...run.steps, [step, result]])
      else run.mustReplay = true
    })

  const deferredResult = ((deferred) =>
    Effect.gen(function* () {
      const instance = yield* WorkflowEngine.WorkflowInstance
      const run = bodies.get(instance)
      const timer = run?.steps.get(timerStep(deferred.name))
      if (run === undefined || timer === undefined) {
        if (run?.mustReplay === true) return Option.none()
        return yield* inner.deferredResult(deferred)
      }
      const wakeAt = (JSON.parse(timer) as { readonly value: number }).value
      if (wakeAt <= (yield* Clock.currentTimeMillis)) return Option.some(Exit.void)
      run.wakeAt = Math.min(run.wakeAt, wakeAt)
      return Option.none()
    })) as Engine["deferredResult"]

  const engine: Engine = WorkflowEngine.WorkflowEngine.of({
    ...inner,
    register,
    activityExecute,
    scheduleClock,
    deferredResult
  })

  const services = yield* Effect.context<never>()
  const check = () => {
    Effect.runForkWith(services)(sharding.pollStorage)
  }
  runs.onFree = check
  calls.onCall = check
  const count = Effect.suspend(() => Metric.update(Metrics.runsInFlight, runs.size()))
  yield* keepGoingEvery(count, { complaint: "Runs in flight could not be counted", interval: betweenCounts })
  return engine
})

export const ClusterEngine = Layer.effect(WorkflowEngine.WorkflowEngine, make).pipe(
  Layer.provide(ClusterWorkflowEngine.layer)
)
