import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Portfolios } from "#domain/portfolio/Portfolios.ts"
import { PositionReader } from "#domain/portfolio/PositionReader.ts"
import { Previews } from "#domain/rebalance/preview/Previews.ts"
import { Rebalances } from "#domain/rebalance/Rebalances.ts"
import { success, successPage } from "#http/v2/Envelope.ts"
import { V2 } from "#http/v2/Api.ts"
import { buildGroup } from "#http/v2/buildGroup.ts"
import { submittedView } from "#http/operation/operationView.ts"
import { portfolioDetailView, portfolioItemView } from "#http/portfolio/portfolioView.ts"
import { previewView } from "#http/portfolio/previewView.ts"
import { positionsView } from "#http/portfolio/positionsView.ts"

export const PortfoliosLive = HttpApiBuilder.group(
  V2,
  "portfolios",
  Effect.fnUntraced(function* (handlers) {
    const portfolios = yield* Portfolios
    const positions = yield* PositionReader
    const previews = yield* Previews
    const rebalances = yield* Rebalances

    return handlers.handleAll({
      listPortfolios: ({ query }) =>
        Effect.map(portfolios.list(query), (page) =>
          successPage({ portfolios: page.items.map(portfolioItemView) }, page)
        ),
      getPortfolio: ({ params }) =>
        Effect.map(portfolios.get(params.portfolioId), (portfolio) => success(portfolioDetailView(portfolio))),
      updatePortfolio: ({ params, payload: { portfolioName, ...labels } }) =>
        Effect.map(
          portfolios.update(params.portfolioId, {
            ...labels,
            ...(portfolioName === undefined ? {} : { name: portfolioName })
          }),
          (portfolio) => success(portfolioDetailView(portfolio))
        ),
      startPortfolio: ({ params }) =>
        Effect.map(portfolios.start(params.portfolioId), (portfolio) => success(portfolioDetailView(portfolio))),
      stopPortfolio: ({ params }) =>
        Effect.map(portfolios.stop(params.portfolioId), (portfolio) => success(portfolioDetailView(portfolio))),
      getPositions: ({ params }) =>
        Effect.map(positions.read(params.portfolioId), (read) => success(positionsView(read))),
      previewRebalance: ({ params }) =>
        Effect.map(previews.make(params.portfolioId), (made) => success(previewView(params.portfolioId, made))),
      rebalancePortfolio: ({ params: { portfolioId }, payload: { planHash } = {} }) =>
        Effect.map(
          planHash === undefined
            ? rebalances.trigger(portfolioId)
            : rebalances.triggerAsPreviewed(portfolioId, planHash),
          (operation) => success(submittedView(operation))
        )
    })
  })
).pipe(buildGroup(Portfolios, PositionReader, Previews, Rebalances))
