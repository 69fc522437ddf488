/**
 * Control of waiting workflows, for the operator's own drivers and matchers. Source: interface "Workflow-monitor
 * control routes"; docs/decisions/0188-waiting-workflows.md.
 */
import { Context, DateTime, Duration, Effect, Layer, Option } from "effect"
import { NotFound, ReplayMismatch, ValidationFailed, WorkflowAsleep } from "#domain/errors/Errors.ts"
import type { OperationId, PortfolioId, UserId, WorkflowId } from "#domain/values/Ids.ts"
import { requestIdOf } from "#domain/monitor/decide.ts"
import { type Monitor, type MonitorEvent, type MonitorState, workerIdOf } from "#domain/monitor/Monitor.ts"
import { MonitorStore } from "#domain/monitor/MonitorStore.ts"
import { fingerprintOf, MonitorTicks, type TickKey } from "#domain/monitor/MonitorTicks.ts"
import { checkAgain, wake } from "#domain/monitor/transitions.ts"
import type { TriggerEvent } from "#domain/monitor/Trigger.ts"

/** How far the caller's clock may be from the service's. */
const maxSkew = Duration.minutes(5)

/** A workflow as the caller names it. */
export interface Named {
  readonly asOf: DateTime.Utc
  readonly ownerAddress: string
  readonly workflowId: WorkflowId
  readonly triggerEvent?: TriggerEvent | undefined
}

export interface TickRequest extends Named {
  readonly requestId: string
  readonly workerId: string
}

export interface ExecutionNotice {
  readonly asOf: DateTime.Utc
  readonly executionRequestId: string
  readonly operationId: OperationId
  readonly runId: string
}

/** The result of a call from outside: the monitor as it is now, and the key of its next tick. */
export interface Notified {
  readonly monitor: Monitor
  readonly requestId: string
  readonly isEnqueued: boolean
}

export interface Ticked {
  readonly monitor: Monitor
  readonly requestId: string
  readonly userId: UserId | null
}

type Refused = NotFound | ValidationFailed

/**
 * Control of waiting workflows from outside.
 *
 * **When to use**
 *
 * Use in the routes of the operator's own drivers. Workflows are made, approved and removed by `Workflows`.
 */
export class Monitors extends Context.Service<
  Monitors,
  {
    /** Active workflows whose tick has come, with its key. */
    readonly due: (
      asOf: DateTime.Utc,
      limit: number
    ) => Effect.Effect<ReadonlyArray<Omit<Notified, "isEnqueued">>, ValidationFailed>
    /**
     * Ticks a workflow that is due, or whose trigger matched by the event; one key ticks once, and a workflow
     * that is not due is answered as it is.
     */
    readonly tick: (request: TickRequest) => Effect.Effect<Ticked, Refused | ReplayMismatch>
    /** None when no workflow waits for the execution. Nothing is enqueued as long as the execution has not ended. */
    readonly notifyExecution: (notice: ExecutionNotice) => Effect.Effect<Option.Option<Notified>, ValidationFailed>
    readonly notifyTriggerMatch: (named: Named, summary: string) => Effect.Effect<Notified, Refused>
    /**
     * Replays what an event wait was for; where nothing is active a fresh tick; refused where the workflow only sleeps.
     */
    readonly recover: (
      named: Named & { readonly portfolioId: PortfolioId }
    ) => Effect.Effect<Notified, Refused | WorkflowAsleep>
  }
>()("ballast/domain/monitor/Monitors") {
  static readonly layer = Layer.effect(
    Monitors,
    Effect.gen(function* () {
      const store = yield* MonitorStore
      const ticks = yield* MonitorTicks

      /** The requested moment, which is never later than the service's own. */
      const within = Effect.fnUntraced(function* (asOf: DateTime.Utc) {
        const now = yield* DateTime.now
        const skew = Math.abs(now.epochMilliseconds - asOf.epochMilliseconds)
        if (skew > Duration.toMillis(maxSkew)) {
          const expected = `a time within ${Duration.toMinutes(maxSkew)} minutes of the service's clock, which shows ${DateTime.formatIso(now)}`
          return yield* new ValidationFailed({
            message: `asOfIso is too far from the service's clock; set the clock and send ${expected}`,
            details: [`asOfIso: Expected ${expected}`]
          })
        }
        return DateTime.isLessThan(asOf, now) ? asOf : now
      })

      const unknown = (workflowId: WorkflowId) =>
        new NotFound({ message: `There is no workflow ${workflowId} of this owner` })

      const require = Effect.fnUntraced(function* ({
        ownerAddress,
        workflowId
      }: Pick<Named, "ownerAddress" | "workflowId">) {
        const monitor = yield* store.find(workflowId)
        if (Option.isNone(monitor) || monitor.value.workflow.ownerAddress !== ownerAddress)
          return yield* unknown(workflowId)
        return monitor.value
      })

      /** An event of another kind than the workflow waits for is a mistake of the matcher. */
      const requireKind = ({ trigger }: Monitor["workflow"], event: TriggerEvent | undefined) =>
        event === undefined || event.kind === trigger?.kind
          ? Effect.void
          : Effect.fail(
              new ValidationFailed({
                message: "The event is not of the kind that the workflow waits for",
                details: [
                  `triggerEvent.kind: Expected ${trigger === null ? "no event, the workflow runs by the clock" : trigger.kind}`
                ]
              })
            )

      const change = Effect.fnUntraced(function* (monitor: Monitor, next: MonitorState) {
        const advanced = yield* store.advance([{ monitor, at: yield* DateTime.now, next }])
        return advanced.length > 0
      })

      /** Wakes what waits for the event; what another one woke meanwhile is answered as it is then. */
      const notify = Effect.fnUntraced(function* (monitor: Monitor, event: MonitorEvent) {
        const now = yield* DateTime.now
        const { workflow } = monitor
        const ready = workflow.status === "active" ? wake(monitor.state, event, now) : null
        if (ready !== null) yield* change(monitor, ready)
        const current = Option.getOrElse(yield* store.find(workflow.workflowId), () => monitor)
        // The same call twice is enqueued once, and answered alike.
        const isEnqueued = current.state.status === "ready" && current.state.event?._tag === event._tag
        return { monitor: current, requestId: requestIdOf(current, now), isEnqueued } satisfies Notified
      })

      const due = Effect.fn("Monitors.due")(function* (asOf: DateTime.Utc, limit: number) {
        const at = yield* within(asOf)
        const monitors = yield* store.due(at, limit)
        return monitors.map((monitor) => ({ monitor, requestId: requestIdOf(monitor, at) }))
      })

      const isDue = ({ state: { nextCheckAt }, workflow }: Monitor, at: DateTime.Utc): boolean =>
        workflow.status === "active" && nextCheckAt !== null && DateTime.isLessThanOrEqualTo(nextCheckAt, at)

      /** Ticks it once, if it is due or the event makes it ready. */
      const tickOnce = Effect.fnUntraced(function* (
        monitor: Monitor,
        key: TickKey,
        { at, triggerEvent }: { readonly at: DateTime.Utc; readonly triggerEvent: TriggerEvent | undefined }
      ) {
        if (triggerEvent !== undefined && monitor.workflow.status === "active") {
          const ready = wake(monitor.state, { _tag: "trigger_matched", event: triggerEvent }, yield* DateTime.now)
          if (ready !== null) {
            yield* change(monitor, ready)
            const woken = yield* store.find(monitor.workflow.workflowId)
            if (Option.isSome(woken) && woken.value.state.status === "ready") yield* ticks.run([woken.value], key)
            return
          }
        }
        if (isDue(monitor, at)) yield* ticks.run([monitor], key)
      })

      const tick = Effect.fn("Monitors.tick")(function* (request: TickRequest) {
        const { asOf, requestId, triggerEvent, workerId, workflowId } = request
        const at = yield* within(asOf)
        const monitor = yield* require(request)
        const { workflow } = monitor
        if (workerId !== workerIdOf(workflowId)) {
          return yield* new ValidationFailed({
            message: "The worker is not the one of this workflow",
            details: [`workerId: Expected ${workerIdOf(workflowId)}`]
          })
        }
        yield* requireKind(workflow, triggerEvent)
        const key = { requestId, fingerprint: fingerprintOf(workflow, triggerEvent) }
        const done = yield* store.tick(requestId)
        if (Option.isSome(done) && done.value.fingerprint !== key.fingerprint) {
          return yield* new ReplayMismatch({
            message: `The requestId ${requestId} was sent before with another body; send a new one`
          })
        }
        if (Option.isNone(done)) yield* tickOnce(monitor, key, { at, triggerEvent })
        const current = Option.getOrElse(yield* store.find(workflowId), () => monitor)
        const userId = Option.getOrNull(yield* store.userOf(workflow.portfolioId))
        return { monitor: current, requestId, userId } satisfies Ticked
      })

      const notifyExecution = Effect.fn("Monitors.notifyExecution")(function* (notice: ExecutionNotice) {
        yield* within(notice.asOf)
        const { executionRequestId: requestId, operationId, runId } = notice
        if (runId !== operationId) return Option.none<Notified>()
        const monitor = yield* store.awaiting({ operationId, requestId })
        if (Option.isNone(monitor)) return Option.none<Notified>()
        return Option.some(yield* notifyEnd(monitor.value, operationId))
      })

      /** The stored state counts, not the caller's: what has not ended enqueues nothing. */
      const notifyEnd = Effect.fnUntraced(function* (monitor: Monitor, operationId: OperationId) {
        const [end] = yield* store.ended([operationId])
        if (end !== undefined) return yield* notify(monitor, { _tag: "execution_completed", ...end })
        return { monitor, requestId: requestIdOf(monitor, yield* DateTime.now), isEnqueued: false } satisfies Notified
      })

      const notifyTriggerMatch = Effect.fn("Monitors.notifyTriggerMatch")(function* (named: Named, summary: string) {
        yield* within(named.asOf)
        const monitor = yield* require(named)
        const { trigger } = monitor.workflow
        yield* requireKind(monitor.workflow, named.triggerEvent)
        if (trigger === null) {
          return yield* new ValidationFailed({
            message: "The workflow runs by the clock and waits for no trigger",
            details: ["workflowId: Expected a workflow that waits for a trigger"]
          })
        }
        const event = named.triggerEvent ?? { kind: trigger.kind, summary }
        return yield* notify(monitor, { _tag: "trigger_matched", event: { ...event, summary } })
      })

      const recover = Effect.fn("Monitors.recover")(function* (named: Named & { readonly portfolioId: PortfolioId }) {
        yield* within(named.asOf)
        const monitor = yield* require(named)
        const { state, workflow } = monitor
        if (workflow.portfolioId !== named.portfolioId) return yield* unknown(named.workflowId)
        yield* requireKind(workflow, named.triggerEvent)
        switch (state.wait) {
          case "time":
            return yield* new WorkflowAsleep({
              message: `Workflow ${named.workflowId} sleeps until ${state.nextCheckAt === null ? "its time" : DateTime.formatIso(state.nextCheckAt)}; let it wake, or remove it`
            })
          case "execution":
            return state.execution === null
              ? yield* Effect.die(
                  new Error(`Workflow ${named.workflowId} waits for an execution that it does not name`)
                )
              : yield* notifyEnd(monitor, state.execution.operationId)
          case "trigger":
            return yield* named.triggerEvent === undefined
              ? replayCheck(monitor)
              : notify(monitor, { _tag: "trigger_matched", event: named.triggerEvent })
          case null:
            // One that is ready has a tick before it: it is answered as it is.
            return yield* state.status === "ready"
              ? notify(monitor, state.event ?? { _tag: "recovered" })
              : notify(monitor, { _tag: "recovered" })
        }
      })

      /** Checks the trigger again at once where there is no event to replay, and arms it: it fires if it is reached. */
      const replayCheck = Effect.fnUntraced(function* (monitor: Monitor) {
        const now = yield* DateTime.now
        const next = monitor.workflow.status === "active" ? checkAgain(monitor.state, now) : null
        const isChanged = next !== null && (yield* change(monitor, next))
        const current = Option.getOrElse(yield* store.find(monitor.workflow.workflowId), () => monitor)
        return { monitor: current, requestId: requestIdOf(current, now), isEnqueued: isChanged } satisfies Notified
      })

      return Monitors.of({ due, tick, notifyExecution, notifyTriggerMatch, recover })
    })
  )
}
