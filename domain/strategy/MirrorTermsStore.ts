/**
 * Port: what tenants accepted of strategies that others created. The first enrollment writes it
 * (`EnrollmentStore.commit`).
 */
import { Context, type DateTime, type Effect, type Option } from "effect"
import type { StrategyId, TenantId } from "#domain/values/Ids.ts"
import type { Frequency } from "#domain/mandate/RebalanceSchedule.ts"
import type { SwapPreferences } from "#domain/mandate/SwapPreferences.ts"

/** What a creator can change of a strategy at the cost of mirroring tenants, beside its target. */
export interface Terms {
  readonly frequency: Frequency
  readonly swap: SwapPreferences
}

export interface StoredTerms {
  readonly accepted: Terms
  readonly acceptedAt: DateTime.Utc
  /** What the creator has set now. */
  readonly offered: Terms
}

/** The tenant takes what the creator offers. */
export interface Acceptance {
  readonly tenantId: TenantId
  readonly strategyId: StrategyId
  readonly terms: Terms
  readonly at: DateTime.Utc
}

/**
 * Where accepted terms are kept.
 *
 * **When to use**
 *
 * Use in `MirrorTerms` alone.
 */
export class MirrorTermsStore extends Context.Service<
  MirrorTermsStore,
  {
    /** None where the tenant mirrors nothing of the strategy. */
    readonly find: (tenantId: TenantId, strategyId: StrategyId) => Effect.Effect<Option.Option<StoredTerms>>
    /**
     * Accepts the strategy's terms of this moment if they are those given, and moves due times to a changed cadence;
     * else false.
     */
    readonly accept: (acceptance: Acceptance) => Effect.Effect<boolean>
  }
>()("ballast/domain/strategy/MirrorTermsStore") {}
