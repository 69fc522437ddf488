import { Effect } from "effect"
import { buildWith } from "#domain/effects/buildWith.ts"
import { SignedIn } from "#domain/identity/SignedIn.ts"
import { Operations } from "#domain/operation/Operations.ts"
import { PortfolioPerformances } from "#domain/performance/PortfolioPerformances.ts"
import { Policies } from "#domain/policy/Policies.ts"
import { PortfolioAccess, shownTo } from "#domain/portfolio/PortfolioAccess.ts"
import type { PortfolioDetail } from "#domain/portfolio/PortfolioDetail.ts"
import { Portfolios } from "#domain/portfolio/Portfolios.ts"
import { PositionReader } from "#domain/portfolio/PositionReader.ts"
import { Previews } from "#domain/rebalance/preview/Previews.ts"
import { Rebalances } from "#domain/rebalance/Rebalances.ts"
import { operationDetailView, operationItemView, submittedView } from "#http/operation/operationView.ts"
import { portfolioPerformanceView } from "#http/performance/performanceView.ts"
import { policyView } from "#http/portfolio/policyView.ts"
import { portfolioDetailView, portfolioItemView } from "#http/portfolio/portfolioView.ts"
import { positionsView } from "#http/portfolio/positionsView.ts"
import { previewView } from "#http/portfolio/previewView.ts"
import { PortfolioProcedures } from "#rpc/portfolio/Portfolios.ts"

const detailView = (portfolio: PortfolioDetail) =>
  Effect.map(SignedIn, (person) => portfolioDetailView(shownTo(person, portfolio)))

export const PortfoliosLive = PortfolioProcedures.toLayer(
  Effect.gen(function* () {
    const { acting, list, reading } = yield* PortfolioAccess
    const portfolios = yield* Portfolios
    const positions = yield* PositionReader
    const performances = yield* PortfolioPerformances
    const policies = yield* Policies
    const operations = yield* Operations
    const previews = yield* Previews
    const rebalances = yield* Rebalances

    return {
      "v2.portfolios.list": (query) =>
        Effect.map(list(query), ({ items, nextCursor }) => ({ portfolios: items.map(portfolioItemView), nextCursor })),
      "v2.portfolios.get": ({ portfolioId }) =>
        Effect.flatMap(reading(portfolioId, portfolios.get(portfolioId)), detailView),
      "v2.portfolios.positions": ({ portfolioId }) =>
        Effect.map(reading(portfolioId, positions.read(portfolioId)), positionsView),
      "v2.portfolios.performance": ({ portfolioId }) =>
        Effect.map(reading(portfolioId, performances.read(portfolioId)), portfolioPerformanceView),
      "v2.portfolios.policy": ({ portfolioId }) =>
        Effect.map(reading(portfolioId, policies.get(portfolioId)), (accounts) => policyView(portfolioId, accounts)),
      "v2.portfolios.operations.list": (query) =>
        Effect.map(
          // A portfolio that is not theirs is refused, one without operations answers an empty list.
          reading(query.portfolioId, Effect.andThen(portfolios.get(query.portfolioId), operations.list(query))),
          ({ items, nextCursor }) => ({ operations: items.map(operationItemView), nextCursor })
        ),
      "v2.portfolios.operations.get": ({ operationId, portfolioId }) =>
        Effect.map(reading(portfolioId, operations.get(portfolioId, operationId)), operationDetailView),
      "v2.portfolios.previewRebalance": ({ portfolioId }) =>
        Effect.map(reading(portfolioId, previews.make(portfolioId)), (made) => previewView(portfolioId, made)),
      "v2.portfolios.start": ({ portfolioId }) =>
        Effect.flatMap(acting(portfolioId, "start", portfolios.start(portfolioId)), detailView),
      "v2.portfolios.stop": ({ portfolioId }) =>
        Effect.flatMap(acting(portfolioId, "stop", portfolios.stop(portfolioId)), detailView),
      "v2.portfolios.rebalance": ({ planHash, portfolioId }) =>
        Effect.map(
          acting(
            portfolioId,
            "rebalance",
            planHash === undefined
              ? rebalances.trigger(portfolioId)
              : rebalances.triggerAsPreviewed(portfolioId, planHash)
          ),
          submittedView
        )
    }
  })
).pipe(
  buildWith(
    PortfolioAccess,
    Portfolios,
    PositionReader,
    PortfolioPerformances,
    Policies,
    Operations,
    Previews,
    Rebalances
  )
)
