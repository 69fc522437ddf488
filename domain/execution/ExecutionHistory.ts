/**
 * Maps the stored events of an operation to those of its stream; pure. Each stored event gives exactly one, with its
 * number, and the end of the operation one more, with the next. So a stream is the same for every reader.
 */
import { type DateTime, Schema } from "effect"
import { ChainCompletion, chainCompleted } from "#domain/rebalance/ChainCompletion.ts"
import { cursorOf, type ExecutionCursor } from "#domain/execution/ExecutionCursor.ts"
import type {
  ExecutionBody,
  ExecutionError,
  ExecutionEvent,
  LandedStep,
  StatusAtCursor
} from "#domain/execution/ExecutionEvent.ts"
import { isTerminal, type Operation, OperationState, stateEvent } from "#domain/operation/Operation.ts"
import type { OperationEvent } from "#domain/operation/OperationStore.ts"

/** What the events up to a position say. */
export interface ExecutionHistory extends StatusAtCursor {
  /** Number of the last event; 0 before the first. */
  readonly sequence: number
  readonly at: DateTime.Utc
  readonly recovered: boolean
}

type Subject = Pick<Operation, "operationId" | "portfolioId" | "kind">

const decodeState = Schema.decodeUnknownSync(
  Schema.Struct({ state: OperationState, error: Schema.NullOr(Schema.String) })
)
const decodeCompletion = Schema.decodeUnknownSync(ChainCompletion)
const readReason = Schema.decodeUnknownOption(Schema.Struct({ reason: Schema.String }))

/** History before the first event. */
export const emptyHistory = (submittedAt: DateTime.Utc): ExecutionHistory => ({
  sequence: 0,
  at: submittedAt,
  state: null,
  error: null,
  completedSteps: 0,
  totalSteps: null,
  recovered: false
})

export const hasEnded = ({ state }: ExecutionHistory): boolean => state !== null && isTerminal(state)

/** `withdrawal_waits` with `{reason}` as `Withdrawal waits: <reason>`. */
const messageOf = ({ kind, payload }: OperationEvent): string => {
  const words = kind.replaceAll("_", " ").replace(/^./, (first) => first.toUpperCase())
  const read = readReason(payload)
  return read._tag === "Some" ? `${words}: ${read.value.reason}` : words
}

/** The history with an event, and the body that the stream sends for it. */
const read = (history: ExecutionHistory, event: OperationEvent): readonly [ExecutionHistory, ExecutionBody] => {
  const next = { ...history, sequence: event.sequence, at: event.at }
  if (event.kind === stateEvent) {
    const { error, state } = decodeState(event.payload)
    return [
      { ...next, state, error, recovered: history.recovered || state === "retrying" },
      { kind: "execution.state_changed", from: history.state, to: state }
    ]
  }
  if (event.kind === chainCompleted) {
    const { message, totalSteps } = decodeCompletion(event.payload)
    const completedSteps = history.completedSteps + 1
    return [
      { ...next, completedSteps, totalSteps },
      { kind: "execution.progress", message, completedSteps, totalSteps }
    ]
  }
  const message = messageOf(event)
  return [next, { kind: "execution.timeline_appended", message, event: event.kind, data: event.payload }]
}

/** The history after an event, and what the stream sends for it. */
export const advance = (
  history: ExecutionHistory,
  event: OperationEvent
): readonly [ExecutionHistory, ExecutionEvent] => {
  const [next, body] = read(history, event)
  return [next, { operationId: event.operationId, cursor: cursorOf(event.at, event.sequence), at: event.at, body }]
}

/**
 * A rebalance that moved nothing can be requested again; a withdrawal needs a new signature, and a bridge is not the
 * client's.
 */
const errorOf = ({ kind }: Subject, { error, state }: ExecutionHistory): ExecutionError => ({
  code: state === "cancelled" ? "EXECUTION_CANCELLED" : "EXECUTION_FAILED",
  message: error ?? `The operation is ${state}`,
  retryable: kind === "rebalance" && state === "failed"
})

/** Where a client stands that has seen the end. */
const endCursor = ({ at, sequence }: ExecutionHistory): ExecutionCursor => cursorOf(at, sequence + 1)

/** The last event of the stream of an operation whose history has ended. */
export const endOf = (
  subject: Subject,
  history: ExecutionHistory,
  steps: ReadonlyArray<LandedStep>
): ExecutionEvent => ({
  operationId: subject.operationId,
  cursor: endCursor(history),
  at: history.at,
  body:
    history.state === "completed"
      ? {
          kind: "execution.result",
          result: {
            executionKey: `${subject.kind}:${subject.operationId}`,
            portfolioId: subject.portfolioId,
            steps,
            recovered: history.recovered
          }
        }
      : { kind: "execution.error", error: errorOf(subject, history) }
})
