/** Contract: portfolios and their automation. Source: interface "portfolios", shapes 2.17 to 2.20. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { WalletId } from "#domain/values/Caip.ts"
import { PortfolioName } from "#domain/portfolio/PortfolioName.ts"
import { ok, page } from "#http/v2/Envelope.ts"
import { ApiKeyAuth } from "#http/middleware/ApiKeyAuth.ts"
import { EndpointLimit } from "#http/middleware/EndpointLimit.ts"
import { Idempotency } from "#http/middleware/Idempotency.ts"
import { RequestErrors } from "#http/middleware/RequestErrors.ts"
import { emptyBody } from "#http/values/emptyBody.ts"
import { labelsPatch, labelsQuery } from "#http/values/labels.ts"
import { mergePatch } from "#http/values/mergePatch.ts"
import { Submitted } from "#http/operation/OperationModel.ts"
import { Preview, RebalanceRequest } from "#http/portfolio/PreviewModel.ts"
import { pageQuery } from "#http/values/PageQuery.ts"
import { Permission, PortfolioDetail, PortfolioItem, ScheduleStatus } from "#http/portfolio/PortfolioModel.ts"
import { Positions } from "#http/portfolio/PositionsModel.ts"
import { PortfolioIdParam, StrategyIdParam } from "#http/values/values.ts"
import { operation } from "#http/openapi/operation.ts"
import {
  CursorInvalid,
  ExternalIdTaken,
  NotFound,
  PlanChanged,
  PortfolioNotFound,
  RateLimited
} from "#http/wireErrors.ts"

const params = { portfolioId: PortfolioIdParam }

const list = HttpApiEndpoint.get("listPortfolios", "/portfolios", {
  query: {
    ownerAccountId: Schema.optionalKey(WalletId),
    strategyId: Schema.optionalKey(StrategyIdParam),
    status: Schema.optionalKey(ScheduleStatus),
    permission: Schema.optionalKey(Permission),
    ...labelsQuery,
    ...pageQuery
  },
  success: page(
    Schema.Struct({ portfolios: Schema.Array(PortfolioItem).annotate({ description: "The page, newest first." }) })
  ),
  error: CursorInvalid
}).annotateMerge(
  operation({
    id: "listPortfolios",
    summary: "List portfolios",
    description:
      "The tenant's portfolios, newest first. With `status`, portfolios without a schedule are left out. `permission=call_policy`: those with an account whose owner should sign anew; `permission=guard`: those without. `externalId` and `metadata` narrow the list too.",
    scope: "portfolios:read",
    tier: "general"
  })
)

const get = HttpApiEndpoint.get("getPortfolio", "/portfolios/:portfolioId", {
  params,
  success: ok(PortfolioDetail),
  error: NotFound
}).annotateMerge(
  operation({
    id: "getPortfolio",
    summary: "Get a portfolio",
    description:
      "The portfolio with the state of its schedule, what is under way, what was done last, and what needs a person to act. Another tenant's portfolio is answered like one that does not exist.",
    scope: "portfolios:read",
    tier: "burst"
  })
)

const PortfolioPatch = Schema.Struct({
  portfolioName: Schema.optionalKey(
    Schema.NullOr(PortfolioName).annotate({
      description:
        "The new name: 1 to 64 characters after trimming, letters, digits, spaces and `- _ . ' : ( ) & /`; null clears it; left out keeps it.",
      examples: ["Savings"]
    })
  ),
  ...labelsPatch
}).annotate({ identifier: "PortfolioPatch", description: "A merge patch (RFC 7396)." })

const update = HttpApiEndpoint.patch("updatePortfolio", "/portfolios/:portfolioId", {
  params,
  payload: mergePatch(PortfolioPatch),
  success: ok(PortfolioDetail),
  error: [PortfolioNotFound, ExternalIdTaken]
}).annotateMerge(
  operation({
    id: "updatePortfolio",
    summary: "Rename or label a portfolio",
    description: "Merge patch of the portfolio's name, external id and metadata. An empty object changes nothing.",
    scope: "portfolios:write",
    tier: "general"
  })
)

const start = HttpApiEndpoint.post("startPortfolio", "/portfolios/:portfolioId/start", {
  params,
  payload: emptyBody,
  disableCodecs: true,
  success: ok(PortfolioDetail),
  error: PortfolioNotFound
}).annotateMerge(
  operation({
    id: "startPortfolio",
    summary: "Resume automation",
    description:
      "Sets the schedule active and makes the next rebalance due now. Already active: no change. Racing with stop, the last writer wins and both answer 200.",
    scope: "portfolios:write",
    tier: "general"
  })
)

const stop = HttpApiEndpoint.post("stopPortfolio", "/portfolios/:portfolioId/stop", {
  params,
  payload: emptyBody,
  disableCodecs: true,
  success: ok(PortfolioDetail),
  error: PortfolioNotFound
}).annotateMerge(
  operation({
    id: "stopPortfolio",
    summary: "Pause automation",
    description:
      "Sets the schedule paused and keeps its due time. Already paused: no change. Positions and a running operation are untouched; one that waits for the owner (`awaiting_user`) is cancelled.",
    scope: "portfolios:write",
    tier: "general"
  })
)

const positions = HttpApiEndpoint.get("getPositions", "/portfolios/:portfolioId/positions", {
  params,
  success: ok(Positions),
  error: NotFound
}).annotateMerge(
  operation({
    id: "getPositions",
    summary: "Get positions",
    description:
      "What the smart accounts hold, at most 30 seconds old. What could not be read is named in `warnings`; a chain that is down is never an error.",
    scope: "portfolios:read",
    tier: "general"
  })
)

const rebalance = HttpApiEndpoint.post("rebalancePortfolio", "/portfolios/:portfolioId/rebalance", {
  params,
  payload: RebalanceRequest,
  disableCodecs: true,
  success: ok(Submitted).pipe(HttpApiSchema.status(202)),
  error: [PortfolioNotFound, PlanChanged, RateLimited]
})
  .middleware(Idempotency)
  .annotateMerge(
    operation({
      id: "rebalancePortfolio",
      summary: "Rebalance now",
      description:
        "Starts a run and answers the operation to poll. While a run is not finished the same operation is answered; shortly after a manual run another is refused with 429. With the `planHash` of a preview it is refused with 409 when a run would do something else by now: other pairs, amounts that moved by more than the portfolio's `slippageBps`, or prices below the minimums of the preview.",
      scope: "portfolios:write",
      tier: "critical"
    })
  )

const preview = HttpApiEndpoint.post("previewRebalance", "/portfolios/:portfolioId/rebalance/preview", {
  params,
  payload: emptyBody,
  disableCodecs: true,
  success: ok(Preview),
  error: PortfolioNotFound
}).annotateMerge(
  operation({
    id: "previewRebalance",
    summary: "Preview a rebalance",
    description:
      "The plan that a run would make now, quoted and simulated on the chains: swaps with their minimums, transfers, gas and what would be left undone. Nothing is sent. `planHash` may be sent with the rebalance within 10 minutes; the last 10 previews of a portfolio count.",
    scope: "portfolios:read",
    tier: "critical"
  })
)

export const Portfolios = HttpApiGroup.make("portfolios")
  .annotate(OpenApi.Title, "Portfolios")
  .annotate(OpenApi.Description, "Users' portfolios: state, positions, automation and manual rebalances.")
  .add(list, get, update, start, stop, positions, rebalance, preview)
  .middleware(RequestErrors)
  .middleware(EndpointLimit)
  .middleware(ApiKeyAuth)
  .prefix("/v2")
