/** A strategy and its versions as v2 shows them. Source: shapes 2.3 and 2.10. */
import { DateTime } from "effect"
import * as Decimal from "#domain/values/Decimal.ts"
import type { Strategy } from "#domain/strategy/Strategy.ts"
import type { StrategyVersion } from "#domain/strategy/StrategyVersion.ts"
import { labelsView } from "#http/values/labels.ts"
import { allocationView } from "#http/v2/strategy/allocationView.ts"
import { preferencesView } from "#http/v2/strategy/swapView.ts"

export const strategyView = (strategy: Strategy) => ({
  strategyId: strategy.strategyId,
  name: strategy.name,
  description: strategy.description,
  ...(strategy.maxApy === null ? {} : { maxApy: Decimal.format(strategy.maxApy, 2) }),
  allocation: allocationView(strategy.allocation),
  schedule: strategy.schedule,
  preferences: preferencesView(strategy.swap, strategy.rebalancePolicy),
  ...(strategy.triggers === undefined ? {} : { triggers: strategy.triggers }),
  isPublic: strategy.isPublic,
  version: strategy.version,
  createdAt: DateTime.formatIso(strategy.createdAt),
  ...(strategy.archivedAt === undefined ? {} : { archivedAt: DateTime.formatIso(strategy.archivedAt) }),
  ...labelsView(strategy)
})

export const versionView = ({ allocation, changeLog, createdAt, isHead, version }: StrategyVersion) => ({
  version,
  allocation: allocationView(allocation),
  changeLog,
  isHead,
  createdAt: DateTime.formatIso(createdAt)
})
