/**
 * Contract: on which terms a tenant mirrors a strategy of another one. An extension of the interface:
 * docs/decisions/0086.
 */
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { ok } from "#http/v2/Envelope.ts"
import { ApiKeyAuth } from "#http/middleware/ApiKeyAuth.ts"
import { EndpointLimit } from "#http/middleware/EndpointLimit.ts"
import { RequestErrors } from "#http/middleware/RequestErrors.ts"
import { AcceptedTerms, MirrorTerms as Terms } from "#http/v2/strategy/MirrorTermsModel.ts"
import { StrategyIdParam } from "#http/values/values.ts"
import { operation } from "#http/openapi/operation.ts"
import { NotFound } from "#http/wireErrors.ts"

const params = { strategyId: StrategyIdParam }

const get = HttpApiEndpoint.get("getMirrorTerms", "/strategies/:strategyId/mirror-terms", {
  params,
  success: ok(Terms),
  error: NotFound
}).annotateMerge(
  operation({
    id: "getMirrorTerms",
    summary: "Get the terms on which a strategy is mirrored",
    description:
      "Preferences of a strategy that another tenant created and that users of this one were enrolled into. A wider limit, another threshold or a faster cadence that its creator sets does not reach this tenant's portfolios before the tenant accepts it; a tighter limit or a slower cadence does at once.",
    scope: "tenant:read",
    tier: "burst"
  })
)

const accept = HttpApiEndpoint.put("acceptMirrorTerms", "/strategies/:strategyId/mirror-terms", {
  params,
  payload: AcceptedTerms,
  success: ok(Terms),
  error: NotFound
}).annotateMerge(
  operation({
    id: "acceptMirrorTerms",
    summary: "Accept the terms on which a strategy is mirrored",
    description:
      "Send `offered` back as it was read; when the creator has changed it since, the answer is 400 and nothing is accepted. Counts for all portfolios of the tenant that follow the strategy, from their next run on.",
    scope: "tenant:write",
    tier: "critical"
  })
)

export const MirrorTerms = HttpApiGroup.make("mirrorTerms")
  .annotate(OpenApi.Title, "Terms of mirroring")
  .annotate(OpenApi.Description, "What a tenant accepts of strategies that others created.")
  .add(get, accept)
  .middleware(RequestErrors)
  .middleware(EndpointLimit)
  .middleware(ApiKeyAuth)
  .prefix("/v2")
