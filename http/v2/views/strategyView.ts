/** A strategy as v2 shows it. Source: shapes 2.3. */
import { DateTime } from "effect"
import * as Decimal from "#domain/Decimal.ts"
import type { Strategy } from "#domain/strategy/Strategy.ts"
import * as Weight from "#domain/Weight.ts"

/** A threshold as it was sent: two decimals, and up to six where it has them. */
const formatThreshold = (value: bigint): string => Decimal.formatUsd(value).replace(/0{1,4}$/, "")

export const strategyView = (strategy: Strategy) => ({
  strategyId: strategy.strategyId,
  name: strategy.name,
  description: strategy.description,
  allocation: {
    assets: strategy.allocation.map(({ assetId, weight }) => ({ assetId, weight: Weight.format(weight) }))
  },
  schedule: strategy.schedule,
  preferences: {
    swap: {
      slippageBps: strategy.swap.slippageBps,
      priceImpactBps: strategy.swap.priceImpactBps,
      thresholdUsd: strategy.swap.thresholdUsd === null ? null : formatThreshold(strategy.swap.thresholdUsd)
    }
  },
  isPublic: strategy.isPublic,
  version: strategy.version,
  createdAt: DateTime.formatIso(strategy.createdAt)
})
