/**
 * Contract: how strategies and portfolios have performed. Source: interface "Strategy read routes", shapes 2.11 and
 * 2.25.
 */
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { ok } from "#http/v2/Envelope.ts"
import { ApiKeyAuth } from "#http/middleware/ApiKeyAuth.ts"
import { EndpointLimit } from "#http/middleware/EndpointLimit.ts"
import { RequestErrors } from "#http/middleware/RequestErrors.ts"
import { PortfolioPerformance } from "#http/performance/PerformanceModel.ts"
import { StrategyPerformance } from "#http/v2/performance/StrategyPerformanceModel.ts"
import { PortfolioIdParam, StrategyIdParam } from "#http/values/values.ts"
import { operation } from "#http/openapi/operation.ts"
import { NotFound } from "#http/wireErrors.ts"

const strategy = HttpApiEndpoint.get("getStrategyPerformance", "/strategies/:strategyId/performance", {
  params: { strategyId: StrategyIdParam },
  success: ok(StrategyPerformance),
  error: NotFound
}).annotateMerge(
  operation({
    id: "getStrategyPerformance",
    summary: "Get a strategy's performance",
    description:
      "The time-weighted return of the target weights from daily prices: each day's weights are those of the version that was head, spread anew on the strategy's schedule. Days before the strategy existed assume its first version. Of one's own strategies and the public ones of others. 400 when the allocation names an asset that is not known any more.",
    scope: "strategies:read",
    tier: "general"
  })
)

const portfolio = HttpApiEndpoint.get("getPortfolioPerformance", "/portfolios/:portfolioId/performance", {
  params: { portfolioId: PortfolioIdParam },
  success: ok(PortfolioPerformance),
  error: NotFound
}).annotateMerge(
  operation({
    id: "getPortfolioPerformance",
    summary: "Get a portfolio's performance",
    description:
      "Value, cash flows and time-weighted return by day, from valuations that are made several times a day. Deposits and withdrawals are separated from gains exactly, by balances and the portfolio's own confirmed trades.",
    scope: "portfolios:read",
    tier: "general"
  })
)

export const Performance = HttpApiGroup.make("performance")
  .annotate(OpenApi.Title, "Performance")
  .annotate(OpenApi.Description, "Curves of strategies and portfolios.")
  .add(strategy, portfolio)
  .middleware(RequestErrors)
  .middleware(EndpointLimit)
  .middleware(ApiKeyAuth)
  .prefix("/v2")
