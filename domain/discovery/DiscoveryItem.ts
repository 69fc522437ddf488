/** A public strategy as discovery shows it. Source: interface "Discovery strategy item". */
import type { DateTime } from "effect"
import type { StrategyId } from "#domain/values/Ids.ts"
import type { PerformanceWindow } from "#domain/performance/PerformanceWindow.ts"
import type { Allocation } from "#domain/mandate/Allocation.ts"

/** What analytics know of a strategy; null is unknown and never stands for zero (docs/decisions/0015). */
export interface DiscoveryMetrics {
  /** Value in the strategy's active portfolios, of all tenants; US dollars, wad. */
  readonly tvlUsd: bigint | null
  /** How many active portfolios follow the strategy, of all tenants. */
  readonly portfolioCount: number | null
  /** Shortest first; empty when there is no price history, or when it is not known. */
  readonly windows: ReadonlyArray<PerformanceWindow>
}

export interface DiscoveryItem {
  readonly strategyId: StrategyId
  readonly name: string
  readonly description: string | null
  /** Percent a year as wad; null when the creator advertises none. */
  readonly maxApy: bigint | null
  /** The target of the head version. */
  readonly allocation: Allocation
  readonly createdAt: DateTime.Utc
  /** Other tenants may enroll into it. */
  readonly canMirror: boolean
  readonly metrics: DiscoveryMetrics
}
