/**
 * How a monitor gets from one state to the next. Pure: each answers the next state, or null where the present one does
 * not allow it.
 *
 *     waiting ── due or event ──> ready ── tick ──> started ──> waiting on the execution ── its end ──> ready
 *     ready ── tick after an execution ──> waiting on the trigger or the next time
 *                                     └──> waiting on the time to try again, or failed after the last try
 *                                     └──> completed, when it runs once
 */
import { DateTime, Duration } from "effect"
import type { OperationId } from "#domain/values/Ids.ts"
import type { LinkedRun, MonitorEvent, MonitorState, Workflow } from "#domain/monitor/Monitor.ts"

/** A monitor is checked at least this often: a deposit, for one, moves no price. */
const checkEvery = Duration.minutes(15)
/** What could not be measured, as while a chain does not answer, is checked again soon. */
const retryAfter = Duration.seconds(10)
/** The end of an execution is signalled; this finds ends that were lost with a restored database. */
const executionCheckEvery = Duration.minutes(5)

const firstRetry = Duration.minutes(1)
const longestRetry = Duration.hours(2)
/** Failures in a row after which a workflow has failed. */
export const maxFailures = 8
/** How many of its runs a workflow keeps the ids of. */
export const maxLinked = 20

/** The time of the next tick: `at`, or a millisecond after the last one, so that no two ticks have the same key. */
const tickTime = ({ lastTickAt }: MonitorState, at: DateTime.Utc): DateTime.Utc =>
  lastTickAt === null || DateTime.isGreaterThan(at, lastTickAt) ? at : DateTime.add(lastTickAt, { milliseconds: 1 })

const none: MonitorState = {
  status: "waiting",
  wait: null,
  nextCheckAt: null,
  lastTickAt: null,
  isArmed: true,
  event: null,
  execution: null,
  linkedOperationIds: [],
  failures: 0,
  readyAt: null,
  startedAt: null,
  retryAfter: null,
  waitingUntil: null,
  completedAt: null,
  failedAt: null,
  lastRunAt: null
}

const waiting = { status: "waiting", event: null, retryAfter: null, waitingUntil: null } as const

/** A triggered workflow is checked once at the beginning, a scheduled one runs at `firstRunAt`. */
export const begin = ({ kind }: Pick<Workflow, "kind">, at: DateTime.Utc, firstRunAt: DateTime.Utc): MonitorState =>
  kind === "triggered"
    ? { ...none, wait: "trigger", nextCheckAt: at }
    : { ...none, wait: "time", nextCheckAt: firstRunAt, waitingUntil: firstRunAt }

const isMeant = ({ execution, nextCheckAt, status, wait }: MonitorState, event: MonitorEvent, at: DateTime.Utc) => {
  switch (event._tag) {
    case "due":
      return wait === "time" && nextCheckAt !== null && DateTime.isLessThanOrEqualTo(nextCheckAt, at)
    case "trigger_matched":
      return wait === "trigger"
    case "execution_completed":
      return wait === "execution" && execution?.operationId === event.operationId
    case "recovered":
      return status === "completed" || status === "failed"
  }
}

/** What waits for this event is ready; one that does not is left as it is. */
export const wake = (state: MonitorState, event: MonitorEvent, at: DateTime.Utc): MonitorState | null => {
  if (!isMeant(state, event, at)) return null
  // A time that has come is the time of its tick already.
  const nextCheckAt = event._tag === "due" ? state.nextCheckAt : tickTime(state, at)
  return {
    ...state,
    ...waiting,
    status: "ready",
    wait: null,
    event,
    execution: null,
    nextCheckAt,
    readyAt: at,
    completedAt: null,
    failedAt: null,
    failures: event._tag === "recovered" ? 0 : state.failures
  }
}

/** The tick is done; the next one is later. */
const ticked = (state: MonitorState): MonitorState => ({ ...state, lastTickAt: state.nextCheckAt ?? state.lastTickAt })

/** The tick of a monitor that is ready. */
export const start = (state: MonitorState, at: DateTime.Utc): MonitorState | null =>
  state.status === "ready"
    ? { ...ticked(state), status: "started", event: null, startedAt: at, nextCheckAt: null }
    : null

interface AwaitedExecution {
  readonly execution: LinkedRun
  /** False: a run that was under way already, started by something else. */
  readonly isOwn: boolean
}

/** It waits for the run that it started, or that was under way already. */
export const awaitExecution = (
  state: MonitorState,
  { execution, isOwn }: AwaitedExecution,
  at: DateTime.Utc
): MonitorState | null => {
  if (state.status !== "started") return null
  const linked: ReadonlyArray<OperationId> = isOwn
    ? [...state.linkedOperationIds, execution.operationId].slice(-maxLinked)
    : state.linkedOperationIds
  return {
    ...state,
    ...waiting,
    wait: "execution",
    execution,
    linkedOperationIds: linked,
    // A run that the workflow did not start may leave the trigger where it was: it may fire again then.
    isArmed: state.isArmed || !isOwn,
    lastRunAt: isOwn ? at : state.lastRunAt,
    nextCheckAt: tickTime(state, DateTime.addDuration(at, executionCheckEvery))
  }
}

/** The first time of a grid that is later than now, so that any number of missed runs gives one. */
const nextRun = (from: DateTime.Utc, everyMs: number, at: DateTime.Utc): DateTime.Utc => {
  const missed = Math.max(0, Math.floor((at.epochMilliseconds - from.epochMilliseconds) / everyMs))
  return DateTime.add(from, { milliseconds: (missed + 1) * everyMs })
}

const ended = (state: MonitorState, changes: Partial<MonitorState>): MonitorState => ({
  ...state,
  ...waiting,
  wait: null,
  nextCheckAt: null,
  execution: null,
  ...changes
})

/** Waits for its trigger. `isKnown`: false where it could not be measured, which is tried again soon. */
export const awaitTrigger = (
  state: MonitorState,
  at: DateTime.Utc,
  { isArmed, isKnown }: { readonly isArmed: boolean; readonly isKnown: boolean }
): MonitorState => {
  const done = ticked(state)
  const nextCheckAt = tickTime(done, DateTime.addDuration(at, isKnown ? checkEvery : retryAfter))
  return { ...done, ...waiting, wait: "trigger", isArmed, execution: null, nextCheckAt }
}

/** Waits for its next time, or for its trigger, or has nothing left to wait for. */
export const rest = (state: MonitorState, workflow: Workflow, at: DateTime.Utc): MonitorState => {
  const done = { ...ticked(state), failures: 0 }
  if (workflow.kind === "triggered")
    return workflow.isRepeated
      ? // At once: the run may have brought the figure back, or not.
        { ...done, ...waiting, wait: "trigger", execution: null, nextCheckAt: tickTime(done, at) }
      : ended(done, { status: "completed", completedAt: at })
  if (workflow.everyMs === null) return ended(done, { status: "completed", completedAt: at })
  const until = tickTime(done, nextRun(done.lastRunAt ?? at, workflow.everyMs, at))
  return { ...done, ...waiting, wait: "time", execution: null, nextCheckAt: until, waitingUntil: until }
}

/** Tries again later; the pause doubles with each failure, and after the last try the workflow has failed. */
export const retry = (state: MonitorState, at: DateTime.Utc): MonitorState => {
  const failures = state.failures + 1
  const done = { ...ticked(state), failures }
  if (failures >= maxFailures) return ended(done, { status: "failed", failedAt: at })
  const pause = Duration.min(longestRetry, Duration.times(firstRetry, 2 ** (failures - 1)))
  const until = tickTime(done, DateTime.addDuration(at, pause))
  // What failed may be tried though nothing moved meanwhile.
  return { ...done, ...waiting, wait: "time", execution: null, isArmed: true, nextCheckAt: until, retryAfter: until }
}

/** Due now, and armed: it fires if its level is reached, though it fired before. */
export const checkAgain = (state: MonitorState, at: DateTime.Utc): MonitorState | null =>
  state.wait === "trigger" ? { ...state, isArmed: true, nextCheckAt: tickTime(state, at) } : null

/** An execution that is not over yet: it is checked again later. */
export const goOnWaiting = (state: MonitorState, at: DateTime.Utc): MonitorState => {
  const done = ticked(state)
  return { ...done, nextCheckAt: tickTime(done, DateTime.addDuration(at, executionCheckEvery)) }
}
