/** Executions as procedures answer them: the parts of the stream's own events. Source: shapes J, K and L. */
import { Schema } from "effect"
import { OperationState } from "#domain/operation/Operation.ts"
import {
  ExecutionError,
  ExecutionResult,
  ExecutionSnapshot,
  ExecutionStep,
  Progress,
  StateChange,
  TimelineEntry
} from "#http/execution/ExecutionEvent.ts"
import { OperationIdText, timestamp } from "#http/values/values.ts"

/** The operation as it is now, and the last event that this includes. */
export const Execution = ExecutionSnapshot

const entry = <Kind extends string, Payload extends Schema.Top>(kind: Kind, payload: Payload) =>
  Schema.Struct({
    sequence: Schema.Int.annotate({ description: "The event's number in the stream.", examples: [3] }),
    ts: timestamp("Time at which it happened"),
    kind: Schema.Literal(kind).annotate({ description: "What it is, the same as in the stream." }),
    message: Schema.String.annotate({ description: "The same for people.", examples: ["From accepted to running"] }),
    payload
  })

export const TimelineItem = Schema.Union([
  entry("execution.state_changed", StateChange),
  entry("execution.timeline_appended", TimelineEntry),
  entry("execution.progress", Progress),
  entry("execution.result", ExecutionResult),
  entry("execution.error", ExecutionError)
]).annotate({ identifier: "ExecutionTimelineItem", description: "An event of the stream, as it is stored." })

export const ExecutionDetail = Schema.Struct({
  ...ExecutionSnapshot.fields,
  timeline: Schema.Array(TimelineItem).annotate({ description: "Oldest first." }),
  hasMore: Schema.Boolean.annotate({
    description: "There is more: request it with the last `sequence` as `afterSequence`.",
    examples: [false]
  }),
  steps: Schema.Array(ExecutionStep).annotate({
    description: "What it left on the chains, also when it failed; empty until it has ended."
  })
}).annotate({ identifier: "ExecutionDetail", description: "An execution with what happened to it." })

export const ExecutionEnd = Schema.Struct({
  operationId: OperationIdText,
  state: OperationState.annotate({ description: "The state now.", examples: ["completed"] }),
  result: Schema.NullOr(ExecutionResult).annotate({ description: "Null unless it is `completed`." }),
  error: Schema.NullOr(ExecutionError).annotate({ description: "Null unless it is `failed` or `cancelled`." })
}).annotate({ identifier: "ExecutionEnd", description: "How an execution ended." })
