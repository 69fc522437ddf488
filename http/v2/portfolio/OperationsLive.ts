import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Operations } from "#domain/operation/Operations.ts"
import { success } from "#http/Envelope.ts"
import { V2 } from "#http/v2/Api.ts"
import { operationView } from "#http/v2/portfolio/operationView.ts"

export const OperationsLive = HttpApiBuilder.group(
  V2,
  "operations",
  Effect.fnUntraced(function* (handlers) {
    const operations = yield* Operations

    return handlers.handleAll({
      getOperation: ({ params }) =>
        Effect.map(operations.get(params.portfolioId, params.operationId), (operation) =>
          success(operationView(operation))
        )
    })
  })
)
