/** A reusable template: target weights, a schedule and swap preferences. Source: interface "Strategy", shapes 2.3. */
import type { DateTime } from "effect"
import type { AssetId } from "#domain/Caip.ts"
import type { StrategyId, TenantId } from "#domain/Ids.ts"
import type { RebalanceSchedule } from "#domain/RebalanceSchedule.ts"

/** Target weight of one asset, in basis points of the whole portfolio. */
export interface TargetWeight {
  readonly assetId: AssetId
  readonly weight: number
}

/** Target weights that sum to 10,000 basis points; 1 to 50 assets, none twice. */
export type Allocation = ReadonlyArray<TargetWeight>

/** Overrides of how swaps are made; null means that the tenant's or the service's default applies. */
export interface SwapPreferences {
  /** How far below its quote a swap may settle, in basis points. */
  readonly slippageBps: number | null
  /** How far a swap may move the market against itself, in basis points. */
  readonly priceImpactBps: number | null
  /** Trades below this value (US dollars, wad) are not made. */
  readonly thresholdUsd: bigint | null
}

export interface Strategy {
  readonly strategyId: StrategyId
  readonly tenantId: TenantId
  readonly name: string
  readonly description: string | null
  readonly allocation: Allocation
  readonly schedule: RebalanceSchedule
  readonly swap: SwapPreferences
  readonly isPublic: boolean
  /** Whether other tenants may enroll into it while it is public; the operator's switch. */
  readonly canMirror: boolean
  /** The most that its creator advertises, percent a year (wad); null when nothing is advertised. */
  readonly maxApy: bigint | null
  /** The head version: the target of the next rebalance. */
  readonly version: number
  readonly createdAt: DateTime.Utc
}
