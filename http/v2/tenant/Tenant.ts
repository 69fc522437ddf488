/** Contract: the calling tenant's defaults and fee. Source: interface "Authentication" 4, shapes 2.12, 2.13 and T. */
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { ok } from "#http/v2/Envelope.ts"
import { ApiKeyAuth } from "#http/middleware/ApiKeyAuth.ts"
import { EndpointLimit } from "#http/middleware/EndpointLimit.ts"
import { RequestErrors } from "#http/middleware/RequestErrors.ts"
import { mergePatch } from "#http/values/mergePatch.ts"
import { SwapFees, SwapFeesPatch } from "#http/v2/strategy/SwapFeesModel.ts"
import { TenantPreferences, TenantPreferencesPatch } from "#http/v2/tenant/TenantModel.ts"
import { operation } from "#http/openapi/operation.ts"

const getPreferences = HttpApiEndpoint.get("getTenantPreferences", "/tenant/preferences", {
  success: ok(TenantPreferences)
}).annotateMerge(
  operation({
    id: "getTenantPreferences",
    summary: "Get the tenant's defaults",
    description: "What applies where a strategy leaves something open. Every field is null until it is set.",
    scope: "tenant:read",
    tier: "burst"
  })
)

const patchPreferences = HttpApiEndpoint.patch("updateTenantPreferences", "/tenant/preferences", {
  payload: mergePatch(TenantPreferencesPatch),
  success: ok(TenantPreferences)
}).annotateMerge(
  operation({
    id: "updateTenantPreferences",
    summary: "Update the tenant's defaults",
    description:
      "Merge patch of each field of `swap`, and of `schedule`, `rebalancePolicy`, `permissionTerms`, `origins` and `ownerActions` as a whole: null clears, what is left out stays. An empty object changes nothing. Swap defaults and the policy reach runs that begin afterwards, the terms what owners sign afterwards; the default schedule reaches strategies that are created afterwards.",
    scope: "tenant:write",
    tier: "general"
  })
)

const getFees = HttpApiEndpoint.get("getTenantFees", "/tenant/fees", { success: ok(SwapFees) }).annotateMerge(
  operation({
    id: "getTenantFees",
    summary: "Get the tenant's swap fee",
    description: "The fee on swaps of the tenant's portfolios, where their strategy has no override; null: no fee.",
    scope: "fees:read",
    tier: "burst"
  })
)

const patchFees = HttpApiEndpoint.patch("updateTenantFees", "/tenant/fees", {
  payload: mergePatch(SwapFeesPatch),
  success: ok(SwapFees)
}).annotateMerge(
  operation({
    id: "updateTenantFees",
    summary: "Update the tenant's swap fee",
    description:
      "Merge patch; null clears the fee, an empty object changes nothing. It is kept and shown, and no swap is charged yet: that takes a route that can collect a fee.",
    scope: "fees:write",
    tier: "general"
  })
)

export const Tenant = HttpApiGroup.make("tenant")
  .annotate(OpenApi.Title, "Tenant defaults")
  .annotate(OpenApi.Description, "Defaults and fees of the calling tenant.")
  .add(getPreferences, patchPreferences, getFees, patchFees)
  .middleware(RequestErrors)
  .middleware(EndpointLimit)
  .middleware(ApiKeyAuth)
  .prefix("/v2")
