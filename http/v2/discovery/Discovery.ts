/** Contract: public strategies of all tenants. Source: interface "GET /v2/discovery/strategies". */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { page } from "#http/v2/Envelope.ts"
import { ApiKeyAuth } from "#http/middleware/ApiKeyAuth.ts"
import { EndpointLimit } from "#http/middleware/EndpointLimit.ts"
import { RequestErrors } from "#http/middleware/RequestErrors.ts"
import { DiscoveryItem, discoveryQuery } from "#http/v2/discovery/DiscoveryModel.ts"
import { operation } from "#http/openapi/operation.ts"
import { CursorInvalid } from "#http/wireErrors.ts"

const list = HttpApiEndpoint.get("discoverStrategies", "/discovery/strategies", {
  query: discoveryQuery,
  success: page(
    Schema.Struct({
      strategies: Schema.Array(DiscoveryItem).annotate({ description: "The page, in the order of the collection." })
    })
  ),
  error: CursorInvalid
}).annotateMerge(
  operation({
    id: "discoverStrategies",
    summary: "Discover public strategies",
    description:
      "Public strategies of every tenant that users may be enrolled into. Each `strategyId` works for enrollment and on the strategy read routes. Rankings are measured every few minutes: between two measurements, following the cursors shows each strategy once; one that a measurement moves across the cursor may be shown twice or not at all.",
    tier: "general"
  })
)

export const Discovery = HttpApiGroup.make("discovery")
  .annotate(OpenApi.Title, "Discovery")
  .annotate(OpenApi.Description, "Public strategies that users may be enrolled into.")
  .add(list)
  .middleware(RequestErrors)
  .middleware(EndpointLimit)
  .middleware(ApiKeyAuth)
  .prefix("/v2")
