/**
 * A workflow engine on the service's own tables, for any number of processes on one database.
 *
 * A run is a row that one process owns, and a row for each step that is done. The body is replayed over the stored steps
 * after a crash, a long sleep or a fault of the database. A step marked `ClusterSchema.WithTransaction` commits its SQL
 * and its result together; any other is stored when it is done, so it may happen again after a crash.
 *
 * What the service's runs do not need is refused: waiting for a result, child runs, values that others provide, interruption.
 */
import { Clock, DateTime, Duration, Effect, Exit, Layer, Metric, Option, Schedule } from "effect"
import { Workflow, WorkflowEngine } from "effect/workflow"
import * as Metrics from "#domain/Metrics.ts"
import { AfterStep } from "#layers/engine/durable/AfterStep.ts"
import { isPassing } from "#layers/engine/durable/isPassing.ts"
import { type LocalRun, localRun, type Registration } from "#layers/engine/durable/LocalRun.ts"
import { runActivity } from "#layers/engine/durable/runActivity.ts"
import { Runner } from "#layers/engine/durable/Runner.ts"
import { RunsInFlight } from "#layers/engine/durable/RunsInFlight.ts"
import { makeRunStorage } from "#layers/engine/durable/RunStorage.ts"
import { makeFreeStrays } from "#layers/engine/durable/freeStrays.ts"
import { type Claimed, ExecutionStore } from "#layers/sql/ExecutionStore.ts"

/** How often executions that nobody owns are looked for. */
const pollInterval = Duration.millis(250)
const claimedAtOnce = 100
/** Between a fault of the database and the next try. */
const afterFault = Duration.millis(500)

const refused = (what: string) =>
  Effect.die(new Error(`${what} is not part of the durable engine; runs are launched and left alone`))

const timerStep = (name: string) => `${name}/timer`

const make = Effect.gen(function* () {
  const store = yield* ExecutionStore
  const runner = yield* Runner
  const { free, runs } = yield* RunsInFlight
  const storage = yield* makeRunStorage(store, runner)
  const registrations = new Map<string, Registration>()
  const activity = runActivity({ store, storage, runner, afterStep: yield* AfterStep })

  const untilDone = <A, E>(effect: Effect.Effect<A, E>) =>
    Effect.retry(effect, Schedule.spaced(afterFault)).pipe(Effect.orDie)

  /** Replays until the run has ended, sleeps or belongs to somebody else. */
  const drive = Effect.fnUntraced(function* (run: LocalRun) {
    const { executionId, payload, registration } = run
    for (;;) {
      run.mustReplay = false
      run.wakeAt = Infinity
      const result = yield* registration
        .execute(payload, executionId)
        .pipe(
          Workflow.intoResult,
          Effect.provideService(
            WorkflowEngine.WorkflowInstance,
            WorkflowEngine.WorkflowInstance.initial(registration.workflow, executionId)
          ),
          Effect.provideService(WorkflowEngine.WorkflowEngine, engine)
        )
      const isBroken = result._tag === "Complete" && Exit.isFailure(result.exit) && isPassing(result.exit.cause)
      if (result._tag === "Complete" && !isBroken) {
        if (Exit.isFailure(result.exit)) yield* Effect.logError(`Run ${executionId} failed`, result.exit.cause)
        return yield* untilDone(storage.finish(executionId))
      }
      if (!isBroken && !run.mustReplay && run.wakeAt < Infinity) {
        const until = DateTime.makeUnsafe(run.wakeAt)
        return yield* untilDone(Effect.flatMap(runner.id, (owner) => store.sleep(owner, executionId, until)))
      }
      yield* Effect.sleep(afterFault)
      const known = yield* untilDone(Effect.flatMap(runner.id, (owner) => store.reload(owner, executionId)))
      if (known === undefined) return
      run.steps = known.steps
    }
  })

  /** Ends the run in this process; what was claimed of it meanwhile begins. */
  const release = (run: LocalRun): Effect.Effect<void> =>
    Effect.suspend(() => {
      runs.delete(run.executionId)
      return run.next === undefined ? Effect.void : resume(run.next)
    })

  const start = (run: LocalRun): Effect.Effect<void> =>
    drive(run).pipe(Effect.ensuring(release(run)), Effect.forkIn(run.registration.scope), Effect.asVoid)

  const resume = (claimed: Claimed): Effect.Effect<void> =>
    Effect.suspend(() => {
      const running = runs.get(claimed.executionId)
      if (running !== undefined) {
        running.next = claimed
        return Effect.void
      }
      const registration = registrations.get(claimed.workflow)
      if (registration === undefined) return Effect.void
      const payload = JSON.parse(claimed.payload) as object
      const run = localRun(registration, claimed.executionId, payload, claimed.steps)
      runs.set(claimed.executionId, run)
      return start(run)
    })

  const launch = Effect.fnUntraced(function* (registration: Registration, executionId: string, payload: object) {
    if (runs.has(executionId)) return
    const run = free() > 0 ? localRun(registration, executionId, payload, new Map()) : undefined
    if (run !== undefined) runs.set(executionId, run)
    const inserted = yield* storage
      .insert({
        executionId,
        workflow: registration.workflow._tag,
        payload: JSON.stringify(payload),
        owner: run === undefined ? null : yield* runner.id,
        at: yield* DateTime.now
      })
      .pipe(Effect.onError(() => (run === undefined ? Effect.void : release(run))))
    if (run === undefined) return
    yield* inserted ? start(run) : release(run)
  })

  const runOf = Effect.map(WorkflowEngine.WorkflowInstance, ({ executionId }) => runs.get(executionId)!)

  const engine: WorkflowEngine.WorkflowEngine["Service"] = WorkflowEngine.makeUnsafe({
    register: (workflow, execute) =>
      Effect.gen(function* () {
        registrations.set(workflow._tag, { workflow, execute, scope: yield* Effect.scope })
        yield* Effect.addFinalizer(() => Effect.sync(() => registrations.delete(workflow._tag)))
      }),
    execute: (workflow, { discard, executionId, parent, payload }) =>
      Effect.gen(function* () {
        const registration = registrations.get(workflow._tag)
        if (registration === undefined) return yield* refused(`The workflow ${workflow._tag}`)
        if (!discard || parent !== undefined) return yield* refused("Waiting for a run, or a run inside another,")
        yield* launch(registration, executionId, payload)
      }).pipe(Effect.orDie, Effect.uninterruptible) as Effect.Effect<never>,
    activityExecute: (self, attempt) => Effect.flatMap(runOf, (run) => activity(run, self, attempt)),
    scheduleClock: (_, { clock, executionId }) =>
      Effect.gen(function* () {
        const run = runs.get(executionId)!
        const step = timerStep(clock.deferred.name)
        if (run.steps.has(step)) return
        const wakeAt = (yield* Clock.currentTimeMillis) + Duration.toMillis(clock.duration)
        const result = JSON.stringify({ value: wakeAt })
        if (yield* storage.record({ executionId, step, result, owner: yield* runner.id }))
          run.steps = new Map([...run.steps, [step, result]])
        else run.mustReplay = true
      }).pipe(
        Effect.catch((error) =>
          Effect.andThen(
            Effect.logWarning(`A timer of ${executionId} could not be stored`, error),
            Effect.sync(() => {
              runs.get(executionId)!.mustReplay = true
            })
          )
        )
      ),
    deferredResult: (deferred) =>
      Effect.gen(function* () {
        const run = yield* runOf
        const timer = run.steps.get(timerStep(deferred.name))
        if (timer === undefined) return Option.none()
        const wakeAt = (JSON.parse(timer) as { readonly value: number }).value
        if (wakeAt <= (yield* Clock.currentTimeMillis)) return Option.some(Exit.void)
        run.wakeAt = Math.min(run.wakeAt, wakeAt)
        return Option.none()
      }),
    deferredDone: () => refused("A value that others provide"),
    poll: () => refused("The result of a run"),
    interrupt: () => refused("Interruption"),
    interruptUnsafe: () => refused("Interruption"),
    resume: () => refused("Resuming by hand")
  })

  const freeStrays = makeFreeStrays({ store, runner, runs })

  const claimAll = Effect.gen(function* () {
    yield* freeStrays
    for (;;) {
      const limit = Math.min(free(), claimedAtOnce)
      if (limit === 0 || registrations.size === 0) break
      const claimed = yield* store.claim(yield* runner.id, [...registrations.keys()], yield* DateTime.now, limit)
      yield* Effect.forEach(claimed, resume, { discard: true })
      if (claimed.length < limit) break
    }
    yield* Metric.update(Metrics.runsInFlight, runs.size)
  })
  yield* claimAll.pipe(
    Effect.catchCause((cause) => Effect.logError("Runs could not be claimed", cause)),
    Effect.repeat(Schedule.spaced(pollInterval)),
    Effect.forkScoped
  )

  return engine
})

export const DurableEngine = Layer.effect(WorkflowEngine.WorkflowEngine, make).pipe(
  Layer.provide(Runner.layer),
  Layer.provide(ExecutionStore.layer)
)
