/** Contract: the tenant's own requests that were refused. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { ApiKeyId } from "#domain/values/Ids.ts"
import { utcFromText } from "#domain/values/UtcFromText.ts"
import { page } from "#http/v2/Envelope.ts"
import { ApiKeyAuth } from "#http/middleware/ApiKeyAuth.ts"
import { EndpointLimit } from "#http/middleware/EndpointLimit.ts"
import { RequestErrors } from "#http/middleware/RequestErrors.ts"
import { operation } from "#http/openapi/operation.ts"
import { pageQuery } from "#http/values/PageQuery.ts"
import { prose, timestamp, written } from "#http/values/values.ts"
import { CursorInvalid } from "#http/wireErrors.ts"

const exampleKey = "key_01JQ8ZQ4V6X8Z0A2C4E6G8J0K2" as ApiKeyId
const apiKeyId = ApiKeyId.annotate({
  description: "Id of the API key.",
  examples: [exampleKey],
  message: `Expected the id of an API key, such as ${exampleKey}`
})

const code = Schema.String.check(Schema.isPattern(/^[A-Z0-9_]{1,40}$/u, { expected: "an error code, such as API_400" }))

const tracingId = (description: string) => written(description, /^[0-9a-f]{32}$/u, "4bf92f3577b34da6a3ce929d0e0e4736")

const RefusedRequest = Schema.Struct({
  requestId: tracingId("`X-Request-Id` of the answer."),
  correlationId: tracingId("`X-Correlation-Id` of the answer; quote it in reports."),
  at: timestamp("Time of the answer"),
  method: written("Method of the request; `RPC` for a call over Effect's RPC.", /^[A-Z]{1,10}$/u, "POST"),
  route: prose("The route, with names in place of ids.", 200, "/v2/portfolios/{portfolioId}/rebalance"),
  status: Schema.Int.annotate({ description: "Status of the answer, from 400 up.", examples: [404] }),
  code: Schema.NullOr(prose("Code of the error.", 40, "API_200")).annotate({
    description: "Code of the error; null when the answer had none.",
    examples: ["API_200"]
  }),
  message: Schema.NullOr(prose("The error's message.", 500, "There is no portfolio of this tenant")).annotate({
    description: "The error's message as it was answered, without its details; null when the answer had none.",
    examples: ["There is no portfolio pf_01JQ8ZM0R2W4Y6A8C0E2G4J6K8 of this tenant"]
  }),
  apiKeyId,
  durationMs: Schema.Finite.annotate({
    description: "Milliseconds from the request's head to its answer.",
    examples: [4.2]
  })
}).annotate({ identifier: "RefusedRequest", description: "A request that was refused (4xx) or failed (5xx)." })

const list = HttpApiEndpoint.get("listRefusedRequests", "/requests", {
  query: {
    code: Schema.optionalKey(code.annotate({ description: "Only with this code.", examples: ["API_400"] })),
    apiKeyId: Schema.optionalKey(apiKeyId.annotate({ description: "Only of this key.", examples: [exampleKey] })),
    since: Schema.optionalKey(utcFromText("what was answered then or later is listed")),
    ...pageQuery
  },
  success: page(
    Schema.Struct({ requests: Schema.Array(RefusedRequest).annotate({ description: "The page, newest first." }) })
  ),
  error: CursorInvalid
}).annotateMerge(
  operation({
    id: "listRefusedRequests",
    summary: "List refused requests",
    description:
      "The tenant's own requests of the last 7 days that were answered with 400 or more, newest first, and its calls over Effect's RPC that failed, each with the status that it has on the other wire. Only those whose key was accepted: a request with an unknown, revoked or expired key belongs to no tenant. Nothing of what was sent is kept: no path, query, header or body. Another process of the service writes its own within a second or two; in a flood some may be missing.",
    scope: "tenant:read",
    tier: "general"
  })
)

export const Requests = HttpApiGroup.make("requests")
  .annotate(OpenApi.Title, "Requests")
  .annotate(
    OpenApi.Description,
    "The tenant's own requests that were refused or failed, to find out why a call does not work."
  )
  .add(list)
  .middleware(RequestErrors)
  .middleware(EndpointLimit)
  .middleware(ApiKeyAuth)
  .prefix("/v2")
