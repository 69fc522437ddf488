/** Contract: the stream of an operation's events. Source: interface "Events", shapes 2.26. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { shown } from "#domain/fromText.ts"
import { ApiKeyAuth } from "#http/middleware/ApiKeyAuth.ts"
import { EndpointLimit } from "#http/middleware/EndpointLimit.ts"
import { ErrorsV1 } from "#http/middleware/ErrorsV1.ts"
import { RequestErrors } from "#http/middleware/RequestErrors.ts"
import { ExecutionEvent } from "#http/v1/models/ExecutionEvent.ts"
import { OperationIdParam } from "#http/v2/values/values.ts"
import { operation } from "#http/v2/operation.ts"
import { CursorInvalid, NotFound } from "#http/wireErrors.ts"

const stream = HttpApiEndpoint.get("streamExecution", "/executions/:operationId/stream", {
  params: { operationId: OperationIdParam },
  headers: {
    "last-event-id": Schema.optionalKey(
      Schema.String.check(shown({ pattern: "^[0-9]{1,15}-[0-9]{1,9}$" })).annotate({
        description:
          "The last `id` that the client has; what came after it is sent. `0-0` for all. Left out: from now on.",
        examples: ["1772443800000-3"]
      })
    )
  },
  success: [HttpApiSchema.StreamSse({ data: ExecutionEvent }), HttpApiSchema.NoContent],
  error: [NotFound, CursorInvalid]
}).annotateMerge(
  operation({
    id: "streamExecution",
    summary: "Follow an operation",
    description: [
      "Server-sent events of one operation, on whichever process is asked: a snapshot, what came after `Last-Event-ID`, what happens from then on, and the end. The stream ends after `execution.result` or `execution.error`; a client that has seen that one is answered 204, which tells it not to come back.",
      "Each frame has `id`, `event` (the kind) and `data` (the envelope as JSON). A comment is sent every 15 seconds. A connection may end at any time, after 15 minutes for certain: connect again with the last `id`."
    ].join("\n\n"),
    scope: "portfolios:read",
    tier: "burst"
  })
)

export const Executions = HttpApiGroup.make("executions")
  .annotate(OpenApi.Title, "Operation events")
  .annotate(OpenApi.Description, "Operations as they happen.")
  .add(stream)
  .middleware(RequestErrors)
  .middleware(EndpointLimit)
  .middleware(ApiKeyAuth)
  .middleware(ErrorsV1)
  .prefix("/v1")
