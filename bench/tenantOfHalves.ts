/** The tenant of a fleet, with one strategy that its portfolios follow: half of each of two assets. */
import { DateTime, Effect } from "effect"
import { TenantStore } from "#domain/identity/TenantStore.ts"
import { StrategyStore } from "#domain/strategy/StrategyStore.ts"
import type { AssetId, ChainId } from "#domain/values/Caip.ts"
import * as Ids from "#domain/values/Ids.ts"
import { AssetStore } from "#layers/sql/asset/AssetStore.ts"

interface Half {
  readonly assetId: AssetId
  readonly symbol: string
  readonly name: string
  readonly decimals: number
}

export const tenantOfHalves = Effect.fnUntraced(function* (chainId: ChainId, halves: ReadonlyArray<Half>) {
  const createdAt = yield* DateTime.now
  yield* (yield* AssetStore).upsertAssets(
    halves.map(({ assetId, decimals, name, symbol }) => ({
      assetId,
      chainId,
      symbol,
      name,
      decimals,
      isBlocked: false
    }))
  )
  const tenantId = yield* Ids.makeTenantId
  yield* (yield* TenantStore).insertTenant({
    tenantId,
    name: "Northwind",
    email: "ops@northwind.example",
    entitlements: [],
    createdAt,
    disabledAt: null
  })
  const strategyId = yield* Ids.makeStrategyId
  yield* (yield* StrategyStore).insert({
    strategyId,
    tenantId,
    name: "Halves",
    description: null,
    allocation: halves.map(({ assetId }) => ({ assetId, weight: 5_000 })),
    schedule: { type: "interval", frequency: "monthly" },
    swap: { slippageBps: null, priceImpactBps: null, thresholdUsd: null },
    isPublic: false,
    version: 1,
    createdAt
  })
  return { tenantId, strategyId }
})
