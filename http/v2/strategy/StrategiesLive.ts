import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Strategies, type StrategyDraft } from "#domain/strategy/Strategies.ts"
import { StrategyVersions } from "#domain/strategy/StrategyVersions.ts"
import { success, successPage } from "#http/v2/Envelope.ts"
import { V2 } from "#http/v2/Api.ts"
import { buildGroup } from "#http/v2/buildGroup.ts"
import { strategyView, versionView } from "#http/v2/strategy/strategyView.ts"
import { labelsOf } from "#domain/values/Labels.ts"
import type { StrategyDraft as Body } from "#http/v2/strategy/StrategyModel.ts"

/** The body of create and validate as the domain takes it: what was left out has its default. Source: shapes 2.4. */
const strategyDraft = (body: typeof Body.Type): StrategyDraft => ({
  name: body.name,
  description: body.description ?? null,
  allocation: body.allocation.assets,
  schedule: body.schedule ?? null,
  swap: {
    slippageBps: body.preferences?.swap?.slippageBps ?? null,
    priceImpactBps: body.preferences?.swap?.priceImpactBps ?? null,
    thresholdUsd: body.preferences?.swap?.thresholdUsd ?? null
  },
  ...(body.preferences?.rebalancePolicy === undefined ? {} : { rebalancePolicy: body.preferences.rebalancePolicy }),
  ...(body.triggers === undefined ? {} : { triggers: body.triggers }),
  isPublic: body.isPublic ?? false,
  ...labelsOf(body)
})

export const StrategiesLive = HttpApiBuilder.group(
  V2,
  "strategies",
  Effect.fnUntraced(function* (handlers) {
    const strategies = yield* Strategies
    const versions = yield* StrategyVersions

    return handlers.handleAll({
      createStrategy: ({ payload }) =>
        Effect.map(strategies.create(strategyDraft(payload)), (strategy) => success(strategyView(strategy))),
      validateStrategy: ({ payload }) =>
        Effect.as(strategies.validate(strategyDraft(payload)), success({ valid: true as const })),
      listStrategies: ({ query }) =>
        Effect.map(strategies.list(query), (page) => successPage({ strategies: page.items.map(strategyView) }, page)),
      getStrategy: ({ params }) =>
        Effect.map(strategies.get(params.strategyId), (strategy) => success(strategyView(strategy))),
      updateStrategy: ({ params, payload }) =>
        Effect.map(strategies.update(params.strategyId, payload), (strategy) => success(strategyView(strategy))),
      deleteStrategy: ({ params: { strategyId } }) =>
        Effect.map(strategies.remove(strategyId), (removal) =>
          success({ strategyId, outcome: removal === "Deleted" ? ("deleted" as const) : ("archived" as const) })
        ),
      restoreStrategy: ({ params }) =>
        Effect.map(strategies.restore(params.strategyId), (strategy) => success(strategyView(strategy))),
      listStrategyVersions: ({ params, query }) =>
        Effect.map(versions.list(params.strategyId, query), (page) =>
          successPage({ versions: page.items.map(versionView) }, page)
        ),
      publishStrategyVersion: ({ params, payload: { allocation, changeLog = null } }) =>
        Effect.map(versions.publish(params.strategyId, { allocation: allocation.assets, changeLog }), (version) =>
          success(versionView(version))
        )
    })
  })
).pipe(buildGroup(Strategies, StrategyVersions))
