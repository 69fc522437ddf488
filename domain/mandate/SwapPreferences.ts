/** How swaps are made and when, as a strategy or a tenant may prefer it. Source: shapes 2.9 and 2.12. */
import type { RebalancePolicy } from "#domain/mandate/RebalancePolicy.ts"

/** Overrides of how swaps are made; null means that the tenant's or the service's default applies. */
export interface SwapPreferences {
  /** How far below its quote a swap may yield, in basis points. */
  readonly slippageBps: number | null
  /** How far a swap may move the market against itself, in basis points. */
  readonly priceImpactBps: number | null
  /** Trades below this value (US dollars, wad) are not made. */
  readonly thresholdUsd: bigint | null
}

/** Preferences of swaps with the policy of rebalancing, where one is set. */
export interface Preferences extends SwapPreferences {
  readonly rebalancePolicy?: RebalancePolicy
}

/** Fields to set, null to clear; what is left out stays as it is. */
export interface PreferencesPatch extends Partial<SwapPreferences> {
  readonly rebalancePolicy?: RebalancePolicy | null
}
