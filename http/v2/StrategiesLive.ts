import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Strategies } from "#domain/strategy/Strategies.ts"
import { success, successPage } from "#http/Envelope.ts"
import { V2 } from "#http/v2/Api.ts"
import { strategyDraft } from "#http/v2/views/strategyDraft.ts"
import { strategyView } from "#http/v2/views/strategyView.ts"

export const StrategiesLive = HttpApiBuilder.group(
  V2,
  "strategies",
  Effect.fnUntraced(function* (handlers) {
    const strategies = yield* Strategies

    return handlers.handleAll({
      createStrategy: ({ payload }) =>
        Effect.map(strategies.create(strategyDraft(payload)), (strategy) => success(strategyView(strategy))),
      validateStrategy: ({ payload }) =>
        Effect.as(strategies.validate(strategyDraft(payload)), success({ valid: true as const })),
      listStrategies: ({ query }) =>
        Effect.map(strategies.list(query), (page) => successPage({ strategies: page.items.map(strategyView) }, page)),
      getStrategy: ({ params }) =>
        Effect.map(strategies.get(params.strategyId), (strategy) => success(strategyView(strategy)))
    })
  })
)
