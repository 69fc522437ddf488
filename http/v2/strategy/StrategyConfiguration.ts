/** Contract: when a strategy's portfolios are rebalanced, how, and at which fee. Source: shapes 2.8, 2.9 and 2.14. */
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { ok } from "#http/v2/Envelope.ts"
import { ApiKeyAuth } from "#http/middleware/ApiKeyAuth.ts"
import { EndpointLimit } from "#http/middleware/EndpointLimit.ts"
import { RequestErrors } from "#http/middleware/RequestErrors.ts"
import { mergePatch } from "#http/values/mergePatch.ts"
import { RebalanceSchedule } from "#domain/mandate/RebalanceSchedule.ts"
import { SwapFees, SwapFeesPatch } from "#http/v2/strategy/SwapFeesModel.ts"
import { Preferences, PreferencesPatch } from "#http/v2/strategy/SwapPreferencesModel.ts"
import { StrategyIdParam } from "#http/values/values.ts"
import { operation } from "#http/openapi/operation.ts"
import { NotFound } from "#http/wireErrors.ts"

const params = { strategyId: StrategyIdParam }

const getSchedule = HttpApiEndpoint.get("getStrategySchedule", "/strategies/:strategyId/schedule", {
  params,
  success: ok(RebalanceSchedule),
  error: NotFound
}).annotateMerge(
  operation({
    id: "getStrategySchedule",
    summary: "Get the schedule of a strategy",
    description:
      "The cadence of one's own strategy or of a public one. `schedule` of a portfolio has its next due time.",
    scope: "strategies:read",
    tier: "burst"
  })
)

const setSchedule = HttpApiEndpoint.put("setStrategySchedule", "/strategies/:strategyId/schedule", {
  params,
  payload: RebalanceSchedule,
  success: ok(RebalanceSchedule),
  error: NotFound
}).annotateMerge(
  operation({
    id: "setStrategySchedule",
    summary: "Set the schedule of a strategy",
    description:
      "Applies to every portfolio that follows the strategy. The new interval counts from the last drift check of a portfolio, to the first due time that is to come, with up to a tenth of an interval, at most an hour, added by chance; so due times move forward or back, within seconds where very many follow. Portfolios of other tenants keep the cadence that their tenant accepted when the new one is faster. A paused portfolio uses the new cadence when it resumes.",
    scope: "strategies:write",
    tier: "critical"
  })
)

const getPreferences = HttpApiEndpoint.get("getStrategyPreferences", "/strategies/:strategyId/preferences", {
  params,
  success: ok(Preferences),
  error: NotFound
}).annotateMerge(
  operation({
    id: "getStrategyPreferences",
    summary: "Get the preferences of a strategy",
    description:
      "What the creator of one's own strategy or of a public one has set. A field that is null has the default of the tenant whose portfolio it is, then the service's.",
    scope: "strategies:read",
    tier: "burst"
  })
)

const patchPreferences = HttpApiEndpoint.patch("updateStrategyPreferences", "/strategies/:strategyId/preferences", {
  params,
  payload: mergePatch(PreferencesPatch),
  success: ok(Preferences),
  error: NotFound
}).annotateMerge(
  operation({
    id: "updateStrategyPreferences",
    summary: "Update the preferences of a strategy",
    description:
      "Merge patch of each field of `swap`, and of `rebalancePolicy` as a whole: null clears, what is left out stays. An empty object changes nothing. Runs that begin afterwards use the new preferences.",
    scope: "strategies:write",
    tier: "general"
  })
)

/** Why a configured fee may not be charged: docs/decisions/0012. */
const charged =
  "The strategy's fee applies to the creator's own portfolios, else the tenant's, else none. It is kept and shown, and no swap is charged yet: that takes a route that can collect a fee."

const getFees = HttpApiEndpoint.get("getStrategyFees", "/strategies/:strategyId/fees", {
  params,
  success: ok(SwapFees),
  error: NotFound
}).annotateMerge(
  operation({
    id: "getStrategyFees",
    summary: "Get the swap fee of a strategy",
    description: `The override of the tenant's swap fee, of one's own strategy only; null: the tenant's applies. ${charged}`,
    scope: "fees:read",
    tier: "burst"
  })
)

const patchFees = HttpApiEndpoint.patch("updateStrategyFees", "/strategies/:strategyId/fees", {
  params,
  payload: mergePatch(SwapFeesPatch),
  success: ok(SwapFees),
  error: NotFound
}).annotateMerge(
  operation({
    id: "updateStrategyFees",
    summary: "Update the swap fee of a strategy",
    description: `Merge patch of the override; null clears it. An empty object changes nothing. ${charged}`,
    scope: "fees:write",
    tier: "general"
  })
)

export const StrategyConfiguration = HttpApiGroup.make("strategyConfiguration")
  .annotate(OpenApi.Title, "Strategy configuration")
  .annotate(OpenApi.Description, "Schedule, swap preferences and fees of a strategy.")
  .add(getSchedule, setSchedule, getPreferences, patchPreferences, getFees, patchFees)
  .middleware(RequestErrors)
  .middleware(EndpointLimit)
  .middleware(ApiKeyAuth)
  .prefix("/v2")
