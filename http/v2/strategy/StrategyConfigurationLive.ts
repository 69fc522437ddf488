import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Strategies } from "#domain/strategy/Strategies.ts"
import { StrategyConfiguration } from "#domain/strategy/StrategyConfiguration.ts"
import { success } from "#http/v2/Envelope.ts"
import { V2 } from "#http/v2/Api.ts"
import { buildGroup } from "#http/v2/buildGroup.ts"
import { preferencesView } from "#http/v2/strategy/swapView.ts"

export const StrategyConfigurationLive = HttpApiBuilder.group(
  V2,
  "strategyConfiguration",
  Effect.fnUntraced(function* (handlers) {
    const strategies = yield* Strategies
    const configuration = yield* StrategyConfiguration

    return handlers.handleAll({
      getStrategySchedule: ({ params }) =>
        Effect.map(strategies.get(params.strategyId), ({ schedule }) => success(schedule)),
      setStrategySchedule: ({ params, payload }) =>
        Effect.map(configuration.setSchedule(params.strategyId, payload), success),
      getStrategyPreferences: ({ params }) =>
        Effect.map(strategies.get(params.strategyId), ({ rebalancePolicy, swap }) =>
          success(preferencesView(swap, rebalancePolicy))
        ),
      updateStrategyPreferences: ({ params, payload: { swap = {}, ...rest } }) =>
        Effect.map(configuration.patchPreferences(params.strategyId, { ...swap, ...rest }), (set) =>
          success(preferencesView(set, set.rebalancePolicy))
        ),
      getStrategyFees: ({ params }) => Effect.map(configuration.fee(params.strategyId), success),
      updateStrategyFees: ({ params, payload }) =>
        Effect.map(configuration.patchFee(params.strategyId, payload), success)
    })
  })
).pipe(buildGroup(Strategies, StrategyConfiguration))
