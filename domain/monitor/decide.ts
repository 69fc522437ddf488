/**
 * What the tick of a monitor does: by its state, by what its trigger is measured at, and by what became of the run that
 * it waits for. Pure.
 */
import type { DateTime } from "effect"
import type { OperationId } from "#domain/values/Ids.ts"
import { judge } from "#domain/monitor/edge.ts"
import type { Facts } from "#domain/monitor/Facts.ts"
import { measure } from "#domain/monitor/measure.ts"
import type { Monitor, MonitorState } from "#domain/monitor/Monitor.ts"
import { tickRequestId } from "#domain/monitor/Monitor.ts"
import type { EndedOperation, Step } from "#domain/monitor/MonitorStore.ts"
import { priceWatches } from "#domain/monitor/priceWatch.ts"
import * as Transitions from "#domain/monitor/transitions.ts"
import { levelOf, type Trigger, type TriggerEvent, watchKeyOf } from "#domain/monitor/Trigger.ts"

/** What is known when a monitor is ticked. */
export interface TickInputs {
  readonly at: DateTime.Utc
  /** Operation of the run, if one is started. */
  readonly operationId: OperationId
  /** Facts of the portfolio; left out when by `needsFacts` nothing is measured. */
  readonly facts?: Facts | undefined
  /** The key that the caller gave the tick; left out, it has its own. */
  readonly requestId?: string | undefined
  /** How the run that it waits for ended; left out as long as it has not. */
  readonly end?: EndedOperation | undefined
}

type Decision = Pick<Step, "next" | "start" | "watches">

/** Whether a tick of it measures its trigger. */
export const needsFacts = ({ state, workflow: { trigger } }: Monitor): boolean =>
  trigger !== null &&
  levelOf(trigger) !== undefined &&
  (state.wait === "trigger" ||
    state.wait === "time" ||
    (state.status === "ready" &&
      state.event?._tag !== "trigger_matched" &&
      state.event?._tag !== "execution_completed"))

/** The key of the monitor's next tick. */
export const requestIdOf = ({ state, workflow }: Monitor, at: DateTime.Utc): string =>
  tickRequestId(workflow.workflowId, state.nextCheckAt ?? at)

/** What a run is started from. */
interface RunStart {
  readonly ready: MonitorState
  /** The trigger that was reached; null by the clock. */
  readonly why: Pick<TriggerEvent, "kind" | "summary"> | null
}

/** Starts a run from a state that is ready. */
const startRun = (
  monitor: Monitor,
  { ready, why }: RunStart,
  { at, operationId, requestId: given }: TickInputs
): Decision => {
  const { workflow } = monitor
  const started = Transitions.start(ready, at)
  if (started === null) return { next: monitor.state }
  // The edge is used up, whether the portfolio may be traded or not.
  const fired = { ...started, isArmed: false }
  const requestId = given ?? requestIdOf({ ...monitor, state: ready }, at)
  return {
    next:
      workflow.kind === "triggered"
        ? Transitions.awaitTrigger(ready, at, { isArmed: false, isKnown: true })
        : Transitions.rest({ ...ready, lastRunAt: at }, workflow, at),
    start: {
      operationId,
      firedBy: {
        workflowId: workflow.workflowId,
        kind: why?.kind ?? "schedule",
        summary: why === null ? workflow.title : `${workflow.title}: ${why.summary}`
      },
      started: (running, isOwn) =>
        Transitions.awaitExecution(fired, { execution: { operationId: running, requestId }, isOwn }, at) ??
        monitor.state
    },
    ...(workflow.kind === "triggered" ? { watches: [] } : {})
  }
}

interface TriggerWait {
  readonly state: MonitorState
  readonly trigger: Trigger
}

/** Measures the trigger of a monitor that waits for it, or is ready to wait for it again. */
const evaluate = (monitor: Monitor, { state, trigger }: TriggerWait, known: TickInputs): Decision => {
  const { at, facts } = known
  const level = levelOf(trigger)
  const stay = (isArmed: boolean, isKnown: boolean) => Transitions.awaitTrigger(state, at, { isArmed, isKnown })
  // Nothing to measure: only a call from outside wakes it.
  if (level === undefined || facts?.isOpen === false) return { next: stay(state.isArmed, true) }
  const measured = facts === undefined ? undefined : measure(trigger, facts)
  if (measured === undefined) return { next: stay(state.isArmed, false) }
  const { fires, isArmed } = judge(level, state.isArmed, measured.value)
  if (!fires) return { next: stay(isArmed, true), watches: priceWatches(level, isArmed, measured) }
  const event: TriggerEvent = { kind: trigger.kind, watchKey: watchKeyOf(trigger), summary: measured.text }
  const ready = state.status === "ready" ? state : Transitions.wake(state, { _tag: "trigger_matched", event }, at)
  return ready === null ? { next: state } : startRun(monitor, { ready, why: event }, known)
}

const decideReady = (monitor: Monitor, ready: MonitorState, known: TickInputs): Decision => {
  const { workflow } = monitor
  switch (ready.event?._tag) {
    case "trigger_matched":
      return startRun(monitor, { ready, why: ready.event.event }, known)
    case "execution_completed": {
      const { operationId, outcome, state } = ready.event
      // A run that the workflow did not start is no attempt of it.
      const isOwn = ready.linkedOperationIds.some((linked) => linked === operationId)
      if (isOwn && state !== "completed") return { next: Transitions.retry(ready, known.at) }
      // All that was to be traded was: what is off its target at the next check has drifted since.
      const isAnswered = isOwn && outcome === "traded" && workflow.trigger?.kind === "portfolio_drift_from_target"
      return { next: Transitions.rest(isAnswered ? { ...ready, isArmed: true } : ready, workflow, known.at) }
    }
    default:
      return workflow.trigger === null
        ? startRun(monitor, { ready, why: null }, known)
        : evaluate(monitor, { state: ready, trigger: workflow.trigger }, known)
  }
}

export const decide = (monitor: Monitor, known: TickInputs): Decision => {
  const { state, workflow } = monitor
  const woken = (ready: MonitorState | null) => (ready === null ? { next: state } : decideReady(monitor, ready, known))
  if (state.status === "ready") return decideReady(monitor, state, known)
  switch (state.wait) {
    case "trigger":
      return workflow.trigger === null
        ? { next: state }
        : evaluate(monitor, { state, trigger: workflow.trigger }, known)
    case "time":
      return woken(Transitions.wake(state, { _tag: "due" }, known.at))
    case "execution":
      return known.end === undefined
        ? { next: Transitions.goOnWaiting(state, known.at) }
        : woken(Transitions.wake(state, { _tag: "execution_completed", ...known.end }, known.at))
    case null:
      return { next: state }
  }
}
