/** Contract: the legacy routes of a portfolio's automation. Source: interface "Legacy v1 REST routes", shapes 2.30. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { okV1 } from "#http/v1/envelopeV1.ts"
import { ApiKeyAuth } from "#http/middleware/ApiKeyAuth.ts"
import { EndpointLimit } from "#http/middleware/EndpointLimit.ts"
import { ErrorsV1 } from "#http/middleware/ErrorsV1.ts"
import { RequestErrors } from "#http/middleware/RequestErrors.ts"
import * as Model from "#http/v1/automation/AutomationModel.ts"
import { PortfolioIdParam } from "#http/values/values.ts"
import { operation } from "#http/openapi/operation.ts"
import { NotFound, PortfolioNotFound, RateLimited } from "#http/wireErrors.ts"

const params = { portfolioId: PortfolioIdParam }

const status = HttpApiEndpoint.get("automationStatus", "/portfolio/:portfolioId/automation/status", {
  params,
  success: okV1(Model.AutomationStatus),
  error: NotFound
}).annotateMerge(
  operation({
    id: "automationStatus",
    summary: "Get the automation's status",
    description: "The state of the portfolio's schedule, its five latest rebalances, and when the next one is due.",
    scope: "portfolios:read",
    tier: "general"
  })
)

const rebalances = HttpApiEndpoint.get("rebalanceStatus", "/portfolio/:portfolioId/rebalance/status", {
  params,
  query: {
    limit: Schema.optionalKey(
      Schema.FiniteFromString.check(Schema.isInt(), Schema.isBetween({ minimum: 1, maximum: 50 }))
    )
  },
  success: okV1(Model.RebalanceStatus),
  error: NotFound
}).annotateMerge(
  operation({
    id: "rebalanceStatus",
    summary: "List the latest rebalances",
    description: "The portfolio's latest rebalances, newest first: five, or as many as `limit`.",
    scope: "portfolios:read",
    tier: "general"
  })
)

const start = HttpApiEndpoint.post("startAutomation", "/portfolio/:portfolioId/rebalance/schedule/start", {
  params,
  payload: Model.StartBody,
  success: okV1(Model.AutomationStarted),
  error: PortfolioNotFound
}).annotateMerge(
  operation({
    id: "startAutomation",
    summary: "Start automation",
    description:
      "Sets the schedule active and makes the next rebalance due now, as `POST /v2/portfolios/{portfolioId}/start`. The interval is the strategy's: another one is refused, but for the legacy default of 21600000, which asks for nothing.",
    scope: "portfolios:write",
    tier: "general"
  })
)

const pause = HttpApiEndpoint.post("pauseAutomation", "/portfolio/:portfolioId/rebalance/schedule/pause", {
  params,
  payload: Model.SwitchBody,
  success: okV1(Model.AutomationPaused),
  error: PortfolioNotFound
}).annotateMerge(
  operation({
    id: "pauseAutomation",
    summary: "Pause automation",
    description: "Sets the schedule paused, as `POST /v2/portfolios/{portfolioId}/stop`. Already paused: no change.",
    scope: "portfolios:write",
    tier: "general"
  })
)

const resume = HttpApiEndpoint.post("resumeAutomation", "/portfolio/:portfolioId/rebalance/schedule/resume", {
  params,
  payload: Model.SwitchBody,
  success: okV1(Model.AutomationResumed),
  error: PortfolioNotFound
}).annotateMerge(
  operation({
    id: "resumeAutomation",
    summary: "Resume automation",
    description: "Sets the schedule active, as `POST /v2/portfolios/{portfolioId}/start`. Already active: no change.",
    scope: "portfolios:write",
    tier: "general"
  })
)

const trigger = HttpApiEndpoint.post("triggerAutomation", "/portfolio/:portfolioId/rebalance/schedule/trigger", {
  params,
  payload: Model.TriggerBody,
  success: okV1(Model.AutomationTriggered),
  error: [PortfolioNotFound, RateLimited]
}).annotateMerge(
  operation({
    id: "triggerAutomation",
    summary: "Rebalance now",
    description:
      "Starts a rebalance, or answers the one that is not finished, as `POST /v2/portfolios/{portfolioId}/rebalance`. A paused schedule is refused unless `skipScheduleValidation` is true.",
    scope: "portfolios:write",
    tier: "critical"
  })
)

export const Automation = HttpApiGroup.make("automation")
  .annotate(OpenApi.Title, "Automation of portfolios")
  .annotate(OpenApi.Description, "Legacy routes: a portfolio's schedule, its switch and its latest rebalances.")
  .add(status, rebalances, start, pause, resume, trigger)
  .middleware(RequestErrors)
  .middleware(EndpointLimit)
  .middleware(ApiKeyAuth)
  .middleware(ErrorsV1)
  .prefix("/v1")
