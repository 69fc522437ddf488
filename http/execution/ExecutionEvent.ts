/** What the stream of an operation sends, as JSON. Source: shapes 2.26, J, L and N. */
import { Schema } from "effect"
import { OperationState } from "#domain/operation/Operation.ts"
import { Operation } from "#http/operation/OperationModel.ts"
import { hexBytes, OperationIdText, PortfolioIdText, timestamp, written } from "#http/values/values.ts"

const text = (description: string, example: string) => Schema.String.annotate({ description, examples: [example] })
const count = (description: string, example: number) => Schema.Int.annotate({ description, examples: [example] })

const eventId = (description: string) => written(description, /^[0-9]{1,15}-[0-9]{1,9}$/u, "1772443800000-3")
const txHash = written(
  "Hash of the transaction; on Solana its first signature in base58.",
  /^(?:0x[0-9a-fA-F]{64}|[1-9A-HJ-NP-Za-km-z]{64,88})$/u,
  `0x${"5c".repeat(32)}`
)
const userOpHash = Schema.NullOr(
  hexBytes("Hash of the user operation; null where none was included.", 32, `0x${"0b".repeat(32)}`)
)

export const ExecutionStep = Schema.Struct({
  stepIndex: count("Position in the list, from 0.", 0),
  chainId: count("The chain.", 8453),
  userOpHash,
  recovered: Schema.Boolean.annotate({ description: "The operation was `retrying` on its way.", examples: [false] }),
  receipt: Schema.Struct({
    userOpHash,
    success: Schema.Boolean.annotate({ description: "False when it was reverted: nothing moved.", examples: [true] }),
    receipt: Schema.Struct({ transactionHash: txHash })
  })
}).annotate({ identifier: "ExecutionStep", description: "What became of a part of the operation on a chain." })

export const ExecutionResult = Schema.Struct({
  executionKey: written("Names the run.", /^[a-z]+:op_[0-9A-Z]{26}$/u, "rebalance:op_01JQ8ZP3T5V7X9Z1B3D5F7H9K1"),
  status: Schema.Literal("completed").annotate({ description: "How it ended." }),
  steps: Schema.Array(ExecutionStep).annotate({
    description: "Steps in the order of the plan; empty when nothing was to be done."
  }),
  portfolioId: PortfolioIdText,
  txHashes: Schema.Array(txHash).annotate({ description: "Every transaction of the steps, once." })
}).annotate({ identifier: "ExecutionResult", description: "What a completed operation did." })

export const ExecutionError = Schema.Struct({
  code: Schema.Literals(["EXECUTION_FAILED", "EXECUTION_CANCELLED"]).annotate({ description: "How it ended." }),
  message: text("Why, for people.", "chain 8453: the swaps were reverted"),
  retryable: Schema.Boolean.annotate({
    description: "True where the request may succeed when sent again.",
    examples: [true]
  })
}).annotate({ identifier: "ExecutionError", description: "Why an operation did not complete." })

export const ExecutionSnapshot = Schema.Struct({
  ...Operation.fields,
  refs: Schema.Struct({ eventId: eventId("The last event that the snapshot includes.") })
}).annotate({ identifier: "ExecutionSnapshot", description: "The operation as it is now." })

export const StateChange = Schema.Struct({
  from: Schema.NullOr(OperationState).annotate({ description: "Null for the first state.", examples: ["accepted"] }),
  to: OperationState.annotate({ description: "The state from now on.", examples: ["running"] })
}).annotate({ identifier: "ExecutionStateChange", description: "The operation changed its state." })

export const TimelineEntry = Schema.Struct({
  message: text("What happened, for people.", "Withdrawal waits: the chain does not answer"),
  event: written("Code for machines.", /^[a-z0-9_.]{1,64}$/u, "withdrawal_waits"),
  data: Schema.Json.annotate({
    description: "Particulars of the event.",
    examples: [{ reason: "the chain does not answer" }]
  })
}).annotate({ identifier: "ExecutionTimelineEntry", description: "Something happened on the way." })

export const Progress = Schema.Struct({
  completedSteps: count("Chains that are done.", 1),
  totalSteps: count("Chains on which there was something to do.", 2),
  percent: count("Whole percentage.", 50),
  message: text("What was done, for people.", "Chain 8453: 2 actions landed in 0x5c...")
}).annotate({ identifier: "ExecutionProgress", description: "A chain of a rebalance over several is done." })

const envelope = <Kind extends string, Payload extends Schema.Top>(kind: Kind, payload: Payload) =>
  Schema.Struct({
    streamId: written("Names the stream.", /^execution:op_[0-9A-Z]{26}$/u, "execution:op_01JQ8ZP3T5V7X9Z1B3D5F7H9K1"),
    eventId: eventId("Id of the event, the same as the frame's `id`."),
    sequence: count("Rises within the stream.", 3),
    ts: timestamp("Time at which it happened"),
    kind: Schema.Literal(kind).annotate({ description: "What the event is, the same as the frame's `event`." }),
    operationId: OperationIdText,
    cursor: eventId("Copy of `eventId`; resume after it with `Last-Event-ID`."),
    payload
  })

export const ExecutionEvent = Schema.Union([
  envelope("execution.snapshot", ExecutionSnapshot),
  envelope("execution.state_changed", StateChange),
  envelope("execution.timeline_appended", TimelineEntry),
  envelope("execution.progress", Progress),
  envelope("execution.result", ExecutionResult),
  envelope("execution.error", ExecutionError)
]).annotate({ identifier: "ExecutionEvent", description: "One event of the stream of an operation." })
export type ExecutionEvent = typeof ExecutionEvent.Type
