/** The calling tenant's own defaults and fee. Source: shapes 2.12 and 2.13. */
import { Context, Effect, Layer } from "effect"
import { Caller } from "#domain/identity/Caller.ts"
import type { SwapFee } from "#domain/mandate/SwapFee.ts"
import { TenantConfigurationStore } from "#domain/tenant/TenantConfigurationStore.ts"
import type { TenantPreferences, TenantPreferencesPatch } from "#domain/tenant/TenantPreferences.ts"

/**
 * Defaults and fee of the calling tenant.
 *
 * **When to use**
 *
 * Use in routes of a tenant's preferences. What overrides them for one strategy is `StrategyConfiguration`.
 */
export class TenantConfiguration extends Context.Service<
  TenantConfiguration,
  {
    readonly preferences: Effect.Effect<TenantPreferences, never, Caller>
    readonly patchPreferences: (patch: TenantPreferencesPatch) => Effect.Effect<TenantPreferences, never, Caller>
    readonly fee: Effect.Effect<SwapFee, never, Caller>
    readonly patchFee: (patch: Partial<SwapFee>) => Effect.Effect<SwapFee, never, Caller>
  }
>()("ballast/domain/tenant/TenantConfiguration") {
  static readonly layer = Layer.effect(
    TenantConfiguration,
    Effect.map(TenantConfigurationStore, (store) =>
      TenantConfiguration.of({
        preferences: Effect.flatMap(Caller, ({ tenantId }) => store.preferences(tenantId)).pipe(
          Effect.withSpan("TenantConfiguration.preferences")
        ),
        patchPreferences: Effect.fn("TenantConfiguration.patchPreferences")((patch: TenantPreferencesPatch) =>
          Effect.flatMap(Caller, ({ tenantId }) => store.patchPreferences(tenantId, patch))
        ),
        fee: Effect.flatMap(Caller, ({ tenantId }) => store.fee(tenantId)).pipe(
          Effect.withSpan("TenantConfiguration.fee")
        ),
        patchFee: Effect.fn("TenantConfiguration.patchFee")((patch: Partial<SwapFee>) =>
          Effect.flatMap(Caller, ({ tenantId }) => store.patchFee(tenantId, patch))
        )
      })
    )
  )
}
