/** Contract: the log of a tenant's events, in pages and as a stream. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { fromText, shown } from "#domain/values/fromText.ts"
import { readScope } from "#domain/execution/ExecutionReaders.ts"
import { StreamEnded, StreamOpened } from "#http/streaming/ownFrames.ts"
import { ok } from "#http/v2/Envelope.ts"
import { ApiKeyAuth } from "#http/middleware/ApiKeyAuth.ts"
import { EndpointLimit } from "#http/middleware/EndpointLimit.ts"
import { RequestErrors } from "#http/middleware/RequestErrors.ts"
import { eventIdPattern, TenantEvent } from "#http/v2/event/EventModel.ts"
import { operation } from "#http/openapi/operation.ts"
import { limitUpTo } from "#http/values/PageQuery.ts"
import { written } from "#http/values/values.ts"
import { CursorInvalid } from "#http/wireErrors.ts"

const eventNumber = fromText(Schema.Int, {
  expected: "the eventId of an event, or 0 for the first that is kept",
  pattern: eventIdPattern,
  example: "1207",
  parse: (text) => (eventIdPattern.test(text) ? Number(text) : undefined),
  format: String
})

const list = HttpApiEndpoint.get("listEvents", "/events", {
  query: { after: Schema.optionalKey(eventNumber), limit: Schema.optionalKey(limitUpTo(200)) },
  success: ok(
    Schema.Struct({
      events: Schema.Array(TenantEvent).annotate({ description: "Events in the order in which they happened." }),
      lastEventId: written("Send it as `after` to go on, now or later.", eventIdPattern, "1207"),
      hasMore: Schema.Boolean.annotate({ description: "There are more already.", examples: [false] })
    })
  ),
  error: CursorInvalid
}).annotateMerge(
  operation({
    id: "listEvents",
    summary: "List events",
    description:
      "One ordered log of what happened to the tenant's operations, portfolios, enrollments and strategies, kept for 30 days. Oldest first, after the event `after`; left out: from the first that is kept.",
    scope: "portfolios:read",
    tier: "general"
  })
)

const Frame = Schema.Union([TenantEvent, StreamOpened, StreamEnded]).annotate({
  identifier: "TenantEventFrame",
  description: "What a frame of the stream holds."
})

const stream = HttpApiEndpoint.get("streamEvents", "/events/stream", {
  headers: {
    "last-event-id": Schema.optionalKey(
      Schema.String.check(shown({ pattern: eventIdPattern.source }), Schema.isMaxLength(32)).annotate({
        description:
          "The last `id` that the client has; what came after it is sent. `0` for all. Left out: from now on.",
        examples: ["1207"]
      })
    )
  },
  success: HttpApiSchema.StreamSse({ data: Frame }),
  error: CursorInvalid
}).annotateMerge(
  operation({
    id: "streamEvents",
    summary: "Follow events",
    description:
      "Streams the log as server-sent events: `id` is the event's number, `event` its type, `data` the event as JSON. A comment is sent every 15 seconds. A connection may end at any time, after 15 minutes for certain: connect again with the last `id`, and none is missed or comes twice.\n\nA stream that begins now first sends the event `stream.opened`, whose `id` is the number after which it sends: a client that is cut before any event resumes there. A key that was revoked, has expired or lost its scope, and one whose tenant is disabled, ends the stream within 15 seconds: the last frame is the event `stream.ended` without `id`, whose data is the code and message of the error with which it is refused from now on.",
    scope: readScope,
    tier: "burst"
  })
)

export const Events = HttpApiGroup.make("events")
  .annotate(OpenApi.Title, "Events")
  .annotate(OpenApi.Description, "What happened to everything of the tenant, in one order.")
  .add(list, stream)
  .middleware(RequestErrors)
  .middleware(EndpointLimit)
  .middleware(ApiKeyAuth)
  .prefix("/v2")
