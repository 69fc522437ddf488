import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Cancellations } from "#domain/operation/Cancellations.ts"
import { Operations } from "#domain/operation/Operations.ts"
import { Portfolios } from "#domain/portfolio/Portfolios.ts"
import { success, successPage } from "#http/v2/Envelope.ts"
import { V2 } from "#http/v2/Api.ts"
import { buildGroup } from "#http/v2/buildGroup.ts"
import { operationDetailView, operationItemView } from "#http/operation/operationView.ts"

export const OperationsLive = HttpApiBuilder.group(
  V2,
  "operations",
  Effect.fnUntraced(function* (handlers) {
    const operations = yield* Operations
    const cancellations = yield* Cancellations
    const portfolios = yield* Portfolios

    const listed = (query: Parameters<typeof operations.list>[0]) =>
      Effect.map(operations.list(query), (found) =>
        successPage({ operations: found.items.map(operationItemView) }, found)
      )

    return handlers.handleAll({
      getOperation: ({ params }) =>
        Effect.map(operations.get(params.portfolioId, params.operationId), (operation) =>
          success(operationDetailView(operation))
        ),
      cancelOperation: ({ params }) =>
        Effect.map(cancellations.cancel(params.portfolioId, params.operationId), (operation) =>
          success(operationDetailView(operation))
        ),
      listPortfolioOperations: ({ params, query }) =>
        // A portfolio that is not the tenant's is refused, one without operations answers an empty list.
        Effect.andThen(portfolios.get(params.portfolioId), listed({ ...query, ...params })),
      listOperations: ({ query }) => listed(query)
    })
  })
).pipe(buildGroup(Portfolios, Cancellations, Operations))
