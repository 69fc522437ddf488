import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { ChainActivations } from "#domain/enrollment/ChainActivations.ts"
import { success } from "#http/v2/Envelope.ts"
import { V2 } from "#http/v2/Api.ts"
import { buildGroup } from "#http/v2/buildGroup.ts"
import { signatureView } from "#http/v2/enrollment/enrollmentView.ts"
import { portfolioView } from "#http/portfolio/portfolioView.ts"

export const ActivationLive = HttpApiBuilder.group(
  V2,
  "activation",
  Effect.fnUntraced(function* (handlers) {
    const activations = yield* ChainActivations

    return handlers.handleAll({
      prepareActivation: ({ params, payload }) =>
        Effect.map(activations.authorize(params.portfolioId, payload.chainIds), (flow) => success(signatureView(flow))),
      activateChains: ({ params, payload }) =>
        Effect.map(activations.activate({ ...params, ...payload }), (portfolio) => success(portfolioView(portfolio)))
    })
  })
).pipe(buildGroup(ChainActivations))
