/** A reusable template: target weights, a schedule and swap preferences. Source: interface "Strategy", shapes 2.3. */
import type { DateTime } from "effect"
import type { Allocation } from "#domain/mandate/Allocation.ts"
import type { StrategyId, TenantId } from "#domain/values/Ids.ts"
import type { Labels } from "#domain/values/Labels.ts"
import type { RebalancePolicy } from "#domain/mandate/RebalancePolicy.ts"
import type { RebalanceSchedule } from "#domain/mandate/RebalanceSchedule.ts"
import type { StrategyTriggers } from "#domain/mandate/StrategyTriggers.ts"
import type { SwapPreferences } from "#domain/mandate/SwapPreferences.ts"

export interface Strategy extends Labels {
  readonly strategyId: StrategyId
  readonly tenantId: TenantId
  readonly name: string
  readonly description: string | null
  readonly allocation: Allocation
  readonly schedule: RebalanceSchedule
  readonly swap: SwapPreferences
  /** Absent: every deviation of the threshold is traded to the target. */
  readonly rebalancePolicy?: RebalancePolicy
  /** What starts a rebalance beside the schedule. Absent: nothing does. */
  readonly triggers?: StrategyTriggers
  readonly isPublic: boolean
  /** Whether other tenants may enroll into it while it is public; the operator's switch. */
  readonly canMirror: boolean
  /** The most that its creator advertises, percent a year (wad); null when nothing is advertised. */
  readonly maxApy: bigint | null
  /** The head version: the target of the next rebalance. */
  readonly version: number
  readonly createdAt: DateTime.Utc
  /** Time since which it takes no further enrollments. Absent: it is not archived. */
  readonly archivedAt?: DateTime.Utc
}
