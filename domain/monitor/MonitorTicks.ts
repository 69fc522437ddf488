/**
 * Ticks monitors: reads what they need, decides, writes, and launches what was accepted. The routes and the driver are
 * the same here, and of two that tick a monitor at the same time one does.
 */
import { Cause, Context, DateTime, Duration, Effect, Layer, Metric } from "effect"
import { SecureRandom } from "effect/crypto"
import { makeOperationId } from "#domain/values/Ids.ts"
import * as Metrics from "#domain/effects/Metrics.ts"
import { decide, needsFacts, requestIdOf } from "#domain/monitor/decide.ts"
import type { Facts } from "#domain/monitor/Facts.ts"
import { PlanReader } from "#domain/rebalance/plan/PlanReader.ts"
import { makeReadFacts } from "#domain/monitor/readFacts.ts"
import { type Monitor, workerIdOf } from "#domain/monitor/Monitor.ts"
import { type Advanced, MonitorStore, type Step } from "#domain/monitor/MonitorStore.ts"
import type { TriggerEvent } from "#domain/monitor/Trigger.ts"
import { OperationLauncher } from "#domain/operation/OperationLauncher.ts"

/** No reading takes longer, whatever it waits for: what is not known by then is read again. */
const longest = Duration.seconds(5)
const launchConcurrency = 64

/** What a tick was sent with; the same key with something else is refused. */
export const fingerprintOf = (
  { ownerAddress, workflowId }: Pick<Monitor["workflow"], "ownerAddress" | "workflowId">,
  triggerEvent: TriggerEvent | undefined
): string => JSON.stringify([ownerAddress, workerIdOf(workflowId), workflowId, triggerEvent ?? null])

export type TickKey = NonNullable<Step["key"]>

/**
 * Ticks workflows.
 *
 * **When to use**
 *
 * Use where it is known which workflows to tick; `MonitorDriver` and `Monitors` decide that.
 */
export class MonitorTicks extends Context.Service<
  MonitorTicks,
  {
    /**
     * Ticks each of them, whether its time has come or not. `key`: under which the tick is stored; without one, the
     * key that `requestIdOf` gives, where the tick starts or ends something.
     */
    readonly run: (monitors: ReadonlyArray<Monitor>, key?: TickKey) => Effect.Effect<ReadonlyArray<Advanced>>
  }
>()("ballast/domain/monitor/MonitorTicks") {
  static readonly layer = Layer.effect(
    MonitorTicks,
    Effect.gen(function* () {
      const store = yield* MonitorStore
      const readAllFacts = yield* makeReadFacts
      const launcher = yield* OperationLauncher
      const random = yield* SecureRandom.SecureRandom

      const readFacts = Effect.fnUntraced(function* (monitors: ReadonlyArray<Monitor>) {
        const questions = new Map(
          monitors.flatMap((monitor) => {
            const { portfolioId, trigger, workflowId } = monitor.workflow
            return trigger !== null && needsFacts(monitor) ? [[workflowId, { portfolioId, trigger }] as const] : []
          })
        )
        if (questions.size === 0) return () => undefined
        const factsOf = yield* readAllFacts([...questions.values()]).pipe(
          Effect.timeout(longest),
          Effect.catchCause((cause) =>
            Cause.hasInterrupts(cause)
              ? Effect.interrupt
              : Effect.as(Effect.logWarning("What monitors wait for could not be read", cause), () => undefined)
          )
        )
        return ({ workflow }: Monitor): Facts | undefined => {
          const question = questions.get(workflow.workflowId)
          return question === undefined ? undefined : factsOf(question)
        }
      })

      const readEnds = Effect.fnUntraced(function* (monitors: ReadonlyArray<Monitor>) {
        const awaited = monitors.flatMap(({ state }) => (state.execution === null ? [] : [state.execution.operationId]))
        if (awaited.length === 0) return new Map()
        return new Map((yield* store.ended(awaited)).map((end) => [end.operationId, end] as const))
      })

      /** A failure is of one monitor alone: it is checked again when its claim is over. */
      const advance = (steps: ReadonlyArray<Step>): Effect.Effect<ReadonlyArray<Advanced>> =>
        Effect.catchCause(store.advance(steps), (cause) => {
          if (Cause.hasInterrupts(cause) || steps.length === 1) return Effect.failCause(cause)
          const alone = (step: Step) =>
            Effect.catchCause(store.advance([step]), (fault) =>
              Cause.hasInterrupts(fault)
                ? Effect.interrupt
                : Effect.as(
                    Effect.annotateLogs(Effect.logError("A monitor could not be ticked", fault), {
                      workflowId: step.monitor.workflow.workflowId
                    }),
                    []
                  )
            )
          return Effect.map(Effect.forEach(steps, alone), (all) => all.flat())
        })

      const count = (outcome: string, by: number) =>
        by === 0 ? Effect.void : Metric.update(Metric.withAttributes(Metrics.monitorTicks, { outcome }), by)

      const run = Effect.fn("MonitorTicks.run")(function* (monitors: ReadonlyArray<Monitor>, key?: TickKey) {
        if (monitors.length === 0) return []
        const [factsOf, ends] = yield* Effect.all([readFacts(monitors), readEnds(monitors)], { concurrency: 2 })
        const at = yield* DateTime.now
        const steps = yield* Effect.forEach(
          monitors,
          Effect.fnUntraced(function* (monitor) {
            const operationId = yield* makeOperationId
            const end = monitor.state.execution === null ? undefined : ends.get(monitor.state.execution.operationId)
            const decided = decide(monitor, {
              at,
              operationId,
              facts: factsOf(monitor),
              end,
              requestId: key?.requestId
            })
            // A check that changes nothing is not recorded: it can be repeated without harm.
            const isRecorded = decided.start !== undefined || monitor.state.status === "ready"
            const own = { requestId: requestIdOf(monitor, at), fingerprint: fingerprintOf(monitor.workflow, undefined) }
            const recorded = key ?? (isRecorded ? own : undefined)
            return { monitor, at, ...decided, ...(recorded === undefined ? {} : { key: recorded }) } satisfies Step
          })
        ).pipe(Effect.provideService(SecureRandom.SecureRandom, random))
        const advanced = yield* advance(steps)
        const launches = advanced.flatMap(({ launch }) => (launch === null ? [] : [launch]))
        yield* Effect.forEach(launches, (operationId) => launcher.launch({ operationId, kind: "rebalance" }), {
          concurrency: launchConcurrency,
          discard: true
        })
        yield* count("started", launches.length)
        yield* count("waits", advanced.length - launches.length)
        yield* count("changed", steps.length - advanced.length)
        return advanced
      })

      return MonitorTicks.of({ run })
    })
  ).pipe(Layer.provide(PlanReader.layer))
}
