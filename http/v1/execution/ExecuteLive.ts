import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { chainIdIn } from "#domain/values/Caip.ts"
import { DirectExecutions } from "#domain/order/DirectExecutions.ts"
import { successV1 } from "#http/v1/envelopeV1.ts"
import { V1 } from "#http/v1/Api.ts"
import { statusView, submittedView } from "#http/v1/execution/executeView.ts"

export const ExecuteLive = HttpApiBuilder.group(
  V1,
  "execute",
  Effect.fnUntraced(function* (handlers) {
    const executions = yield* DirectExecutions

    return handlers.handleAll({
      execute: Effect.fnUntraced(function* ({ params, payload, query }) {
        const { calls, nonce = null } = payload.params
        const several = Array.isArray(calls) ? calls : [calls]
        const [first, ...others] = several.map(({ data, to }) => ({ to, data: data.toLowerCase() }))
        const request = {
          portfolioId: params.portfolioId,
          chainId: chainIdIn(payload.chainId),
          calls: [first!, ...others] as const,
          nonce
        }
        if (query.dryRun !== "true") return yield* successV1(submittedView(yield* executions.submit(request)))
        const simulated = yield* executions.simulate(request)
        return yield* successV1(submittedView(simulated, simulated.trace))
      }),
      executeStatus: ({ params }) =>
        Effect.flatMap(executions.status(params.portfolioId, params.executionId), (found) =>
          successV1(statusView(found))
        )
    })
  })
)
