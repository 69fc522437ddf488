/** Contract: the streams of an operation's events. Source: interface "Events", shapes 2.26 and O. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { shown } from "#domain/values/fromText.ts"
import { readScope } from "#domain/execution/ExecutionReaders.ts"
import { ErrorsV1 } from "#http/middleware/ErrorsV1.ts"
import { ExecutionAuth } from "#http/middleware/ExecutionAuth.ts"
import { RequestErrors } from "#http/middleware/RequestErrors.ts"
import { AgUiEvent, AgUiInput } from "#http/v1/agUi/AgUiModel.ts"
import { ExecutionEvent } from "#http/execution/ExecutionEvent.ts"
import { OperationIdParam } from "#http/values/values.ts"
import { operation } from "#http/openapi/operation.ts"
import { StreamEnded } from "#http/streaming/ownFrames.ts"
import { CursorInvalid, NotFound } from "#http/wireErrors.ts"

const headers = {
  "last-event-id": Schema.optionalKey(
    Schema.String.check(shown({ pattern: "^[0-9]{1,15}-[0-9]{1,9}$" })).annotate({
      description:
        "The last `id` that the client has; what came after it is sent. `0-0` for all. Left out: from now on.",
      examples: ["1772443800000-3"]
    })
  )
}

/** Security of a route that takes a key or a session. */
const keyOrSession = OpenApi.annotations({ override: { security: [{ apiKey: [] }, { session: [] }] } })

const access =
  "A key needs the scope above. A wallet session, as `Authorization: Bearer` or in its cookie, reads the operations of its tenant and of the portfolios that the wallet owns."

/** What each stream of server-sent events says of its end. */
const ended =
  "A key or session that was revoked, has expired or lost its scope, and one whose tenant is disabled, ends the stream within 15 seconds: the last frame is the event `stream.ended` without `id`, whose data is the code and message of the error with which it is refused from now on."

const Frame = Schema.Union([ExecutionEvent, StreamEnded]).annotate({
  identifier: "ExecutionFrame",
  description: "What a frame of the stream holds."
})

const stream = HttpApiEndpoint.get("streamExecution", "/executions/:operationId/stream", {
  params: { operationId: OperationIdParam },
  headers,
  success: [HttpApiSchema.StreamSse({ data: Frame }), HttpApiSchema.NoContent],
  error: [NotFound, CursorInvalid]
})
  .annotateMerge(
    operation({
      id: "streamExecution",
      summary: "Follow an operation",
      description: [
        "Server-sent events of one operation, on whichever process is asked: a snapshot, what came after `Last-Event-ID`, what happens from then on, and the end. The stream ends after `execution.result` or `execution.error`; a client that reconnects after it is answered 204 and must not come back.",
        "Each frame has `id`, `event` (the kind) and `data` (the envelope as JSON). A comment is sent every 15 seconds. A connection may end at any time, after 15 minutes for certain: connect again with the last `id`.",
        ended,
        access
      ].join("\n\n"),
      scope: readScope,
      tier: "burst"
    })
  )
  .annotateMerge(keyOrSession)

const agUi = HttpApiEndpoint.get("streamExecutionAgUi", "/ai/executions/:operationId/ag-ui-stream", {
  params: { operationId: OperationIdParam },
  headers,
  success: [HttpApiSchema.StreamSse({ data: AgUiEvent }), HttpApiSchema.NoContent],
  error: [NotFound, CursorInvalid]
})
  .annotateMerge(
    operation({
      id: "streamExecutionAgUi",
      summary: "Follow an operation as an agent's run",
      description: [
        "Streams the events as chunks of the AG-UI protocol 1.0: `RUN_STARTED`, a `STATE_SNAPSHOT`, then for each event one `STATE_DELTA` (JSON Patch) whose `rawEvent` is it, `STEP_STARTED` and `STEP_FINISHED` around each state, `CUSTOM` for what happens on the way, and `RUN_FINISHED` or `RUN_ERROR`. The thread is the portfolio, the run the operation.",
        "Each connection begins with `RUN_STARTED` and a snapshot as of `Last-Event-ID`. Frames have `data` alone; the last one of an event has its `id`. Comments, the longest time of a connection and 204 are those of the stream above. A key or session that may no longer ends it with `RUN_ERROR`, whose `code` is that of the error with which it is refused from now on; the operation goes on.",
        access
      ].join("\n\n"),
      scope: readScope,
      tier: "burst"
    })
  )
  .annotateMerge(keyOrSession)

const agUiPosted = HttpApiEndpoint.post("runExecutionAgUi", "/ai/executions/:operationId/ag-ui-stream", {
  params: { operationId: OperationIdParam },
  headers,
  payload: AgUiInput,
  success: [HttpApiSchema.StreamSse({ data: AgUiEvent }), HttpApiSchema.NoContent],
  error: [NotFound, CursorInvalid]
})
  .annotateMerge(
    operation({
      id: "runExecutionAgUi",
      summary: "Follow an operation as an agent's run, as the protocol's client calls",
      description: [
        "Streams to `HttpAgent` of `@ag-ui/client` as it comes: it posts an input, of which nothing is read, since the run is the operation of the path and is under way already. Nothing is changed or started.",
        access
      ].join("\n\n"),
      scope: readScope,
      tier: "burst"
    })
  )
  .annotateMerge(keyOrSession)

export const Executions = HttpApiGroup.make("executions")
  .annotate(OpenApi.Title, "Operation events")
  .annotate(OpenApi.Description, "Operations as they happen.")
  .add(stream, agUi, agUiPosted)
  .middleware(RequestErrors)
  .middleware(ExecutionAuth)
  .middleware(ErrorsV1)
  .prefix("/v1")
