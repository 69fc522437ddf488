/** One published target of a strategy. It never changes; the head is what rebalances aim at. Source: shapes 2.10. */
import type { DateTime } from "effect"
import type { Allocation } from "#domain/mandate/Allocation.ts"

export interface StrategyVersion {
  /** Number from 1 up, without gaps. */
  readonly version: number
  readonly allocation: Allocation
  /** What has changed, by its publisher. */
  readonly changeLog: string | null
  /** True for exactly one version of a strategy, the latest. */
  readonly isHead: boolean
  readonly createdAt: DateTime.Utc
}
