/**
 * Contract: strategies of the calling tenant and their versions. Source: interface "strategies", shapes 2.3 to 2.7,
 * 2.10.
 */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { ok, page } from "#http/v2/Envelope.ts"
import { ApiKeyAuth } from "#http/middleware/ApiKeyAuth.ts"
import { EndpointLimit } from "#http/middleware/EndpointLimit.ts"
import { CommitsWithAnswer, Idempotency } from "#http/middleware/Idempotency.ts"
import { RequestErrors } from "#http/middleware/RequestErrors.ts"
import { Archived } from "#domain/strategy/StrategyStore.ts"
import { emptyBody } from "#http/values/emptyBody.ts"
import { labelsQuery } from "#http/values/labels.ts"
import { mergePatch } from "#http/values/mergePatch.ts"
import { pageQuery } from "#http/values/PageQuery.ts"
import { Strategy, StrategyDraft, StrategyPatch } from "#http/v2/strategy/StrategyModel.ts"
import { StrategyVersion, StrategyVersionPage, VersionDraft } from "#http/v2/strategy/StrategyVersionModel.ts"
import { StrategyIdParam } from "#http/values/values.ts"
import { operation } from "#http/openapi/operation.ts"
import { CursorInvalid, ExternalIdTaken, NotFound } from "#http/wireErrors.ts"

const params = { strategyId: StrategyIdParam }

const create = HttpApiEndpoint.post("createStrategy", "/strategies", {
  payload: StrategyDraft,
  success: ok(Strategy).pipe(HttpApiSchema.status(201)),
  error: ExternalIdTaken
})
  .middleware(Idempotency)
  .annotate(CommitsWithAnswer, true)
  .annotateMerge(
    operation({
      id: "createStrategy",
      summary: "Create a strategy",
      description:
        "Stores a strategy and its version 1. Each asset must be known and not blocked; the weights must sum to exactly 100. Without `schedule` the tenant's default applies; with neither the body is refused. The body is strict: an unknown key is refused.",
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
      "Checks a strategy as creating one does, in the same order and with the same errors; nothing is stored.",
    scope: "strategies:write",
    tier: "general"
  })
)

const list = HttpApiEndpoint.get("listStrategies", "/strategies", {
  query: {
    archived: Schema.optionalKey(
      Archived.annotate({
        description: "`exclude`, the default: those that are not archived; `only`: those that are; `include`: both.",
        examples: ["exclude"]
      })
    ),
    ...labelsQuery,
    ...pageQuery
  },
  success: page(
    Schema.Struct({ strategies: Schema.Array(Strategy).annotate({ description: "The page, newest first." }) })
  ),
  error: CursorInvalid
}).annotateMerge(
  operation({
    id: "listStrategies",
    summary: "List strategies",
    description:
      "The tenant's own strategies, newest first; archived ones only on request. `externalId` and `metadata` narrow the list.",
    scope: "strategies:read",
    tier: "general"
  })
)

const get = HttpApiEndpoint.get("getStrategy", "/strategies/:strategyId", {
  params,
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

const update = HttpApiEndpoint.patch("updateStrategy", "/strategies/:strategyId", {
  params,
  payload: mergePatch(StrategyPatch),
  success: ok(Strategy),
  error: [NotFound, ExternalIdTaken]
}).annotateMerge(
  operation({
    id: "updateStrategy",
    summary: "Update a strategy",
    description:
      "Merge patch of name, description, visibility, triggers, external id and metadata. An empty object changes nothing. Allocation, schedule and preferences have routes of their own and are refused here. Another tenant's strategy is not found, be it public or not.",
    scope: "strategies:write",
    tier: "general"
  })
)

const remove = HttpApiEndpoint.delete("deleteStrategy", "/strategies/:strategyId", {
  params,
  success: ok(
    Schema.Struct({
      strategyId: StrategyIdParam,
      outcome: Schema.Literals(["deleted", "archived"]).annotate({
        description: "`deleted`: nothing used it, and it is gone; `archived`: it can be restored.",
        examples: ["archived"]
      })
    })
  ),
  error: NotFound
}).annotateMerge(
  operation({
    id: "deleteStrategy",
    summary: "Delete or archive a strategy",
    description:
      "Deletes a strategy that nothing uses. One that users are, were or are being enrolled into is archived instead: it takes no further enrollments (400), portfolios that follow it go on, and it is in no list or discovery unless requested. Archived already: no change.",
    scope: "strategies:write",
    tier: "general"
  })
)

const restore = HttpApiEndpoint.post("restoreStrategy", "/strategies/:strategyId/restore", {
  params,
  payload: emptyBody,
  disableCodecs: true,
  success: ok(Strategy),
  error: NotFound
}).annotateMerge(
  operation({
    id: "restoreStrategy",
    summary: "Restore a strategy",
    description: "Takes the archiving back: users can be enrolled again. Not archived: no change.",
    scope: "strategies:write",
    tier: "general"
  })
)

const versions = HttpApiEndpoint.get("listStrategyVersions", "/strategies/:strategyId/versions", {
  params,
  query: pageQuery,
  success: page(Schema.Struct({ versions: StrategyVersionPage })),
  error: [NotFound, CursorInvalid]
}).annotateMerge(
  operation({
    id: "listStrategyVersions",
    summary: "List the versions of a strategy",
    description: "The published targets of one's own strategy or of a public one, newest first.",
    scope: "strategies:read",
    tier: "general"
  })
)

const publish = HttpApiEndpoint.post("publishStrategyVersion", "/strategies/:strategyId/versions", {
  params,
  payload: VersionDraft,
  success: ok(StrategyVersion).pipe(HttpApiSchema.status(201)),
  error: NotFound
})
  .middleware(Idempotency)
  .annotate(CommitsWithAnswer, true)
  .annotateMerge(
    operation({
      id: "publishStrategyVersion",
      summary: "Publish a version",
      description:
        "Appends an immutable version and makes it the head, which the next rebalance of every portfolio aims at. The service numbers it; of concurrent publications each gets its own number and the last is head. The allocation passes the same checks as at creation.",
      scope: "strategies:write",
      tier: "critical"
    })
  )

export const Strategies = HttpApiGroup.make("strategies")
  .annotate(OpenApi.Title, "Strategies")
  .annotate(OpenApi.Description, "Templates that portfolios follow: target weights, a schedule and swap preferences.")
  .add(create, validate, list, get, update, remove, restore, versions, publish)
  .middleware(RequestErrors)
  .middleware(EndpointLimit)
  .middleware(ApiKeyAuth)
  .prefix("/v2")
