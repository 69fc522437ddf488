/**
 * Defaults of a tenant, for what its strategies leave open. Source: interface "Authentication" 4, shapes 2.12 and T.
 */
import { Schema } from "effect"
import type { OwnerAction } from "#domain/mandate/OwnerAction.ts"
import type { RebalancePolicy } from "#domain/mandate/RebalancePolicy.ts"
import type { RebalanceSchedule } from "#domain/mandate/RebalanceSchedule.ts"
import type { SwapPreferences } from "#domain/mandate/SwapPreferences.ts"

/** The widest limits that the tenant has owners sign, in basis points: tighter than the guard's own, never wider. */
export const TenantTerms = Schema.Struct({
  maxTradeLossBps: Schema.optionalKey(Schema.Int),
  maxWeeklyLossBps: Schema.optionalKey(Schema.Int)
})
export type TenantTerms = typeof TenantTerms.Type

export interface TenantPreferences {
  /** Apply to each field that a strategy does not set; a field that is null here has the service's default. */
  readonly swap: SwapPreferences
  /** The schedule of a strategy that is created without one. */
  readonly schedule: RebalanceSchedule | null
  /** Followed by portfolios whose strategy has none, and a limit for those that follow another tenant's strategy. */
  readonly rebalancePolicy?: RebalancePolicy
  /** Hold for what owners sign from then on; what they signed before stays until they sign anew. */
  readonly permissionTerms?: TenantTerms
  /** Pages of these may call the API with the tenant's keys (RFC 6454); left out: none may. */
  readonly origins?: ReadonlyArray<string>
  /** What owners may do with their portfolios by their wallets' sessions; left out: they may read. */
  readonly ownerActions?: ReadonlyArray<OwnerAction>
}

/** Fields to set, null to clear; what is left out stays as it is. */
export interface TenantPreferencesPatch {
  readonly swap?: Partial<SwapPreferences>
  readonly schedule?: RebalanceSchedule | null
  readonly rebalancePolicy?: RebalancePolicy | null
  readonly permissionTerms?: TenantTerms | null
  readonly origins?: ReadonlyArray<string> | null
  readonly ownerActions?: ReadonlyArray<OwnerAction> | null
}
