/**
 * Contract: what assets are, and which there are. Source: interface "POST /v2/assets/allocation-breakdown"; the list is
 * an extension.
 */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { ok, page } from "#http/v2/Envelope.ts"
import { ApiKeyAuth } from "#http/middleware/ApiKeyAuth.ts"
import { EndpointLimit } from "#http/middleware/EndpointLimit.ts"
import { RequestErrors } from "#http/middleware/RequestErrors.ts"
import { assetQuery, ListedAsset } from "#http/v2/asset/AssetModel.ts"
import { Breakdown, BreakdownRequest } from "#http/v2/asset/BreakdownModel.ts"
import { operation } from "#http/openapi/operation.ts"
import { CursorInvalid } from "#http/wireErrors.ts"

const breakDown = HttpApiEndpoint.post("breakDownAllocation", "/assets/allocation-breakdown", {
  payload: BreakdownRequest,
  success: ok(Breakdown)
}).annotateMerge(
  operation({
    id: "breakDownAllocation",
    summary: "Break holdings down by category",
    description:
      "Turns weights into fractions of their absolute sum and adds them up by the categories of each dimension. Tokens count as the asset that they stand for, whatever their chain and issuer. What cannot be placed is named in `diagnostics` and left out of the totals; nothing is stored.",
    scope: "portfolios:read",
    tier: "general"
  })
)

const list = HttpApiEndpoint.get("listAssets", "/assets", {
  query: assetQuery,
  success: page(Schema.Struct({ assets: Schema.Array(ListedAsset).annotate({ description: "The page, by id." }) })),
  error: CursorInvalid
}).annotateMerge(
  operation({
    id: "listAssets",
    summary: "List assets",
    description:
      "The assets that strategies may name, on the chains that this deployment serves, with their last known price and whether runs trade them. Prices come from a cache; no provider is called.",
    tier: "general"
  })
)

export const Assets = HttpApiGroup.make("assets")
  .annotate(OpenApi.Title, "Assets")
  .annotate(OpenApi.Description, "What assets are, whatever chain and issuer their tokens have.")
  .add(list, breakDown)
  .middleware(RequestErrors)
  .middleware(EndpointLimit)
  .middleware(ApiKeyAuth)
  .prefix("/v2")
