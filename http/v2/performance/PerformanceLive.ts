import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { PortfolioPerformances } from "#domain/performance/PortfolioPerformances.ts"
import { StrategyPerformances } from "#domain/performance/StrategyPerformances.ts"
import { success } from "#http/v2/Envelope.ts"
import { V2 } from "#http/v2/Api.ts"
import { buildGroup } from "#http/v2/buildGroup.ts"
import { portfolioPerformanceView } from "#http/performance/performanceView.ts"
import { strategyPerformanceView } from "#http/v2/performance/strategyPerformanceView.ts"

export const PerformanceLive = HttpApiBuilder.group(
  V2,
  "performance",
  Effect.fnUntraced(function* (handlers) {
    const strategies = yield* StrategyPerformances
    const portfolios = yield* PortfolioPerformances

    return handlers.handleAll({
      getStrategyPerformance: ({ params }) =>
        Effect.map(strategies.read(params.strategyId), (performance) => success(strategyPerformanceView(performance))),
      getPortfolioPerformance: ({ params }) =>
        Effect.map(portfolios.read(params.portfolioId), (performance) => success(portfolioPerformanceView(performance)))
    })
  })
).pipe(buildGroup(StrategyPerformances, PortfolioPerformances))
