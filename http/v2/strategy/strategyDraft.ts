/** The body of create and validate as the domain takes it: what was left out has its default. Source: shapes 2.4. */
import { labelsOf } from "#domain/Labels.ts"
import type { StrategyDraft } from "#domain/strategy/Strategies.ts"
import type { StrategyDraft as Body } from "#http/v2/strategy/StrategyModel.ts"

export const strategyDraft = (body: typeof Body.Type): StrategyDraft => ({
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
