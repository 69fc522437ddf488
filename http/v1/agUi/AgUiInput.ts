/**
 * What the protocol's own client posts to follow a run. Source: `RunAgentInput` of package `@ag-ui/core`.
 *
 * The run is the operation of the path and is under way already, so nothing of it changes what is sent.
 */
import { Schema } from "effect"

const id = (description: string, example: string) =>
  Schema.String.check(Schema.isMaxLength(200)).annotate({ description, examples: [example] })

const unread = (description: string, example: unknown) =>
  Schema.optionalKey(Schema.Unknown.annotate({ description: `${description}; not read.`, examples: [example] }))

export const AgUiInput = Schema.Struct({
  threadId: id("The client's name of the thread.", "7c1b0f3e-6f2a-4a53-9d43-0f4f3e1c2b11"),
  runId: id("The client's name of the run.", "op_01JQ8ZKX4V6T3M9N2C5B7D8F0G"),
  protocolVersion: unread("The version that the client speaks", "1.0"),
  parentRunId: unread("The run that this one follows", "op_01JQ8ZKX4V6T3M9N2C5B7D8F0F"),
  state: unread("The state that the client has", {}),
  messages: unread("Messages of the thread", []),
  tools: unread("Tools of the client", []),
  context: unread("Context of the client", []),
  forwardedProps: unread("What an agent would be passed", {}),
  resume: unread("What an interrupted run would go on with", [])
}).annotate({ identifier: "AgUiInput", description: "The input of the protocol's client, `RunAgentInput`." })
