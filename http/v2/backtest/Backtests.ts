/**
 * Contract: what a rebalance policy would have done. An extension of the interface: docs/decisions/0145-backtests.md.
 */
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { limits } from "#domain/backtest/Backtest.ts"
import { maxAllocationAssets } from "#domain/strategy/allocationRules.ts"
import { ok } from "#http/v2/Envelope.ts"
import { ApiKeyAuth } from "#http/middleware/ApiKeyAuth.ts"
import { EndpointLimit } from "#http/middleware/EndpointLimit.ts"
import { RequestErrors } from "#http/middleware/RequestErrors.ts"
import { Backtest, BacktestDraft } from "#http/v2/backtest/BacktestModel.ts"
import { operation } from "#http/openapi/operation.ts"

const run = HttpApiEndpoint.post("backtestStrategy", "/strategies/backtest", {
  payload: BacktestDraft,
  success: ok(Backtest)
}).annotateMerge(
  operation({
    id: "backtestStrategy",
    summary: "Backtest a strategy",
    description: [
      "Lets the service's own planner rebalance a portfolio over recorded daily prices, by a schedule and a rebalance policy: value by day, cost, turnover, tracking error and trades, beside the exact target and buy and hold on the same days. Nothing is stored.",
      `Bounds: 1 to ${maxAllocationAssets} assets, 1 to ${limits.maxDays} days. Where an asset has no price of the first day the answer is 400 and names the day from which it has. An hourly schedule checks once a day, since there is one price a day.`,
      "All assets are taken to be on one chain, every swap to cost `feeBps` and `gasUsd`, and every trade to be made whole: price impact and `slicing` have no part in it."
    ].join("\n\n"),
    scope: "strategies:read",
    tier: "critical"
  })
)

export const Backtests = HttpApiGroup.make("backtests")
  .annotate(OpenApi.Title, "Backtests")
  .annotate(OpenApi.Description, "What a rebalance policy would have done.")
  .add(run)
  .middleware(RequestErrors)
  .middleware(EndpointLimit)
  .middleware(ApiKeyAuth)
  .prefix("/v2")
