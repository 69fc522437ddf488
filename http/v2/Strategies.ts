/** Contract: strategies of the calling tenant. Source: interface "strategies", shapes 2.3 to 2.7. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { ok, page } from "#http/Envelope.ts"
import { ApiKeyAuth } from "#http/middleware/ApiKeyAuth.ts"
import { EndpointLimit } from "#http/middleware/EndpointLimit.ts"
import { RequestErrors } from "#http/middleware/RequestErrors.ts"
import { pageQuery } from "#http/v2/models/PageQuery.ts"
import { Strategy, StrategyDraft } from "#http/v2/models/Strategy.ts"
import { StrategyIdParam } from "#http/v2/models/values.ts"
import { operation } from "#http/v2/operation.ts"
import { CursorInvalid, NotFound } from "#http/wireErrors.ts"

const create = HttpApiEndpoint.post("createStrategy", "/strategies", {
  payload: StrategyDraft,
  success: ok(Strategy).pipe(HttpApiSchema.status(201))
}).annotateMerge(
  operation({
    id: "createStrategy",
    summary: "Create a strategy",
    description:
      "Stores a strategy and its version 1. Each asset must be known and not blocked; the weights must sum to exactly 100. The body is strict: an unknown key is refused.",
    scope: "strategies:write",
    tier: "critical"
  })
)

const validate = HttpApiEndpoint.post("validateStrategy", "/strategies/validate", {
  payload: StrategyDraft,
  success: ok(
    Schema.Struct({ valid: Schema.Literal(true).annotate({ description: "Creating this strategy would succeed." }) })
  )
}).annotateMerge(
  operation({
    id: "validateStrategy",
    summary: "Check a strategy without creating it",
    description:
      "The same checks as creating a strategy, in the same order and with the same errors; nothing is stored.",
    scope: "strategies:write",
    tier: "general"
  })
)

const list = HttpApiEndpoint.get("listStrategies", "/strategies", {
  query: pageQuery,
  success: page(
    Schema.Struct({ strategies: Schema.Array(Strategy).annotate({ description: "The page, newest first." }) })
  ),
  error: CursorInvalid
}).annotateMerge(
  operation({
    id: "listStrategies",
    summary: "List strategies",
    description: "The tenant's own strategies, newest first.",
    scope: "strategies:read",
    tier: "general"
  })
)

const get = HttpApiEndpoint.get("getStrategy", "/strategies/:strategyId", {
  params: { strategyId: StrategyIdParam },
  success: ok(Strategy),
  error: NotFound
}).annotateMerge(
  operation({
    id: "getStrategy",
    summary: "Get a strategy",
    description: "One of the tenant's own strategies, or a public one of another tenant.",
    scope: "strategies:read",
    tier: "burst"
  })
)

export const Strategies = HttpApiGroup.make("strategies")
  .annotate(OpenApi.Description, "Templates that portfolios follow: target weights, a schedule and swap preferences.")
  .add(create, validate, list, get)
  .middleware(RequestErrors)
  .middleware(EndpointLimit)
  .middleware(ApiKeyAuth)
  .prefix("/v2")
