/** Defaults of a tenant, for what its strategies leave open. Source: interface "Authentication" 4, shapes 2.12 and T. */
import type { RebalancePolicy } from "#domain/RebalancePolicy.ts"
import type { RebalanceSchedule } from "#domain/RebalanceSchedule.ts"
import type { SwapPreferences } from "#domain/SwapPreferences.ts"

export interface TenantPreferences {
  /** Apply to each field that a strategy does not set; a field that is null here has the service's default. */
  readonly swap: SwapPreferences
  /** The schedule of a strategy that is created without one. */
  readonly schedule: RebalanceSchedule | null
  /** Followed by portfolios whose strategy has none, and a limit for those that follow somebody else's strategy. */
  readonly rebalancePolicy?: RebalancePolicy
}

/** Fields to set, null to clear; what is left out stays as it is. */
export interface TenantPreferencesPatch {
  readonly swap?: Partial<SwapPreferences>
  readonly schedule?: RebalanceSchedule | null
  readonly rebalancePolicy?: RebalancePolicy | null
}
