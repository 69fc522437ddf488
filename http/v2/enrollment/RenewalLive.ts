import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Renewals } from "#domain/enrollment/Renewals.ts"
import { success } from "#http/v2/Envelope.ts"
import { V2 } from "#http/v2/Api.ts"
import { buildGroup } from "#http/v2/buildGroup.ts"
import { signatureView } from "#http/v2/enrollment/enrollmentView.ts"
import { portfolioView } from "#http/portfolio/portfolioView.ts"

export const RenewalLive = HttpApiBuilder.group(
  V2,
  "renewal",
  Effect.fnUntraced(function* (handlers) {
    const renewals = yield* Renewals

    return handlers.handleAll({
      prepareResign: ({ params, payload }) =>
        Effect.map(renewals.authorize(params.portfolioId, payload.chainIds, payload.terms), (flow) =>
          success(signatureView(flow))
        ),
      resign: ({ params, payload }) =>
        Effect.map(renewals.renew({ ...params, ...payload }), (portfolio) => success(portfolioView(portfolio)))
    })
  })
).pipe(buildGroup(Renewals))
