/**
 * Events of the AG-UI protocol 1.0 in which the stream of an execution is written. Source: the protocol's own schemas,
 * package `@ag-ui/core`; docs/decisions/0163.
 */
import { Schema } from "effect"
import * as Errors from "#domain/errors/Errors.ts"
import type { AccessEnded } from "#domain/identity/access/StandingAccess.ts"
import { ExecutionEvent, ExecutionResult } from "#http/execution/ExecutionEvent.ts"
import { OperationKind, OperationState } from "#domain/operation/Operation.ts"
import { OperationIdText, PortfolioIdText, timestamp } from "#http/values/values.ts"

const text = (description: string, example: string) => Schema.String.annotate({ description, examples: [example] })

const nullable = <S extends Schema.Top>(schema: S, description: string) =>
  Schema.NullOr(schema).annotate({ description, examples: [null] })

/** What the snapshot holds, and the deltas change. */
export const AgUiState = Schema.Struct({
  operationId: OperationIdText,
  portfolioId: PortfolioIdText,
  kind: OperationKind.annotate({ description: "What is done.", examples: ["rebalance"] }),
  submittedAt: timestamp("Time at which the operation was accepted"),
  state: Schema.NullOr(OperationState).annotate({
    description: "Null before the first event.",
    examples: ["running"]
  }),
  updatedAt: timestamp("Time of the last event"),
  sequence: Schema.Int.annotate({ description: "Number of the last event.", examples: [3] }),
  completedSteps: Schema.Int.annotate({ description: "Chains that are done.", examples: [1] }),
  totalSteps: Schema.NullOr(Schema.Int).annotate({
    description: "Chains on which there is something to do; null until one is done.",
    examples: [2]
  }),
  result: nullable(ExecutionResult, "What it did; null until it is `completed`."),
  error: nullable(Schema.String, "Why it did not complete, for people.")
}).annotate({ identifier: "AgUiExecutionState", description: "The execution up to an event." })
export type AgUiState = typeof AgUiState.Type

const common = {
  timestamp: Schema.Int.annotate({ description: "Milliseconds since 1970.", examples: [1772443800000] })
}
/** The event that a chunk is of; on one chunk of each event. */
const rawEvent = ExecutionEvent

const chunk = <const Type extends string, Fields extends Schema.Struct.Fields>(
  type: Type,
  description: string,
  fields: Fields
) =>
  Schema.Struct({
    type: Schema.Literal(type).annotate({ description }),
    ...common,
    ...fields
  })

const run = {
  threadId: PortfolioIdText,
  runId: OperationIdText
}
const stepName = OperationState.annotate({ description: "The state that begins or ends.", examples: ["running"] })

const Replace = Schema.Struct({
  op: Schema.Literal("replace").annotate({ description: "Every field is there from the snapshot on." }),
  path: Schema.String.check(Schema.isPattern(/^\/[a-zA-Z]+$/u)).annotate({
    description: "JSON Pointer of the field.",
    examples: ["/state"]
  }),
  value: Schema.Unknown.annotate({ description: "Its new value.", examples: ["running"] })
}).annotate({ identifier: "AgUiReplace", description: "An operation of RFC 6902." })

/** Codes with which the chunks end that a client may follow no longer, by the class of the error. */
export const accessEndedCodes = {
  KeyInvalid: Errors.KeyInvalid.contract.code,
  KeyExpired: Errors.KeyExpired.contract.code,
  PermissionDenied: Errors.PermissionDenied.contract.code,
  SessionInvalid: Errors.SessionInvalid.contract.code,
  TenantDisabled: Errors.TenantDisabled.contract.code
} as const satisfies Readonly<Record<AccessEnded["_tag"], string>>

export const AgUiEvent = Schema.Union([
  chunk("RUN_STARTED", "The first chunk of each connection.", run),
  chunk("STATE_SNAPSHOT", "The second one: the execution as the client has seen it.", {
    snapshot: AgUiState,
    rawEvent
  }),
  chunk("STEP_STARTED", "The operation is in a state.", { stepName }),
  chunk("STEP_FINISHED", "It has left the state.", { stepName }),
  chunk("STATE_DELTA", "What an event changed.", {
    delta: Schema.Array(Replace).annotate({ description: "JSON Patch, RFC 6902." }),
    rawEvent
  }),
  chunk("CUSTOM", "Something happened on the way.", {
    name: Schema.Literal("execution.timeline_appended").annotate({ description: "The kind of the event." }),
    value: Schema.Unknown.annotate({ description: "Its payload.", examples: [{ message: "Withdrawn" }] })
  }),
  chunk("RUN_FINISHED", "The last chunk of an operation that is `completed`.", { ...run, result: ExecutionResult }),
  chunk("RUN_ERROR", "The last chunk of one that is not, and of a connection whose key or session may no longer.", {
    message: text("Why, for people.", "chain 8453: the swaps were reverted"),
    code: Schema.Literals(["EXECUTION_FAILED", "EXECUTION_CANCELLED", ...Object.values(accessEndedCodes)]).annotate({
      description:
        "How the operation ended; or the code of the error with which the key or session is refused from now on, while the operation goes on.",
      examples: ["EXECUTION_FAILED"]
    })
  })
]).annotate({ identifier: "AgUiEvent", description: "A chunk of the AG-UI protocol." })
export type AgUiEvent = typeof AgUiEvent.Type

const named = (description: string, example: string) =>
  Schema.String.check(Schema.isMaxLength(200)).annotate({ description, examples: [example] })

const unread = (description: string, example: unknown) =>
  Schema.optionalKey(Schema.Unknown.annotate({ description: `${description}; not read.`, examples: [example] }))

/**
 * What the protocol's own client posts to follow a run. The run is the operation of the path and is under way already,
 * so nothing of it changes what is sent. Source: `RunAgentInput` of package `@ag-ui/core`.
 */
export const AgUiInput = Schema.Struct({
  threadId: named("The client's name of the thread.", "7c1b0f3e-6f2a-4a53-9d43-0f4f3e1c2b11"),
  runId: named("The client's name of the run.", "op_01JQ8ZKX4V6T3M9N2C5B7D8F0G"),
  protocolVersion: unread("The version that the client speaks", "1.0"),
  parentRunId: unread("The run that this one follows", "op_01JQ8ZKX4V6T3M9N2C5B7D8F0F"),
  state: unread("The state that the client has", {}),
  messages: unread("Messages of the thread", []),
  tools: unread("Tools of the client", []),
  context: unread("Context of the client", []),
  forwardedProps: unread("What an agent would be passed", {}),
  resume: unread("What an interrupted run would go on with", [])
}).annotate({ identifier: "AgUiInput", description: "The input of the protocol's client, `RunAgentInput`." })
