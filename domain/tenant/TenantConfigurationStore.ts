/**
 * Port: where tenants' defaults and fees are kept. Nothing is configured for an unknown tenant. A patch writes the
 * fields that it has and no others, so concurrent patches of different fields both last.
 */
import { Context, type Effect } from "effect"
import type { TenantId } from "#domain/values/Ids.ts"
import type { SwapFee } from "#domain/mandate/SwapFee.ts"
import type { TenantPreferences, TenantPreferencesPatch } from "#domain/tenant/TenantPreferences.ts"

/**
 * Where defaults and fees of tenants are kept.
 *
 * **When to use**
 *
 * Use in services of this context, and where a tenant's defaults count for something else. Tenants read theirs by
 * `TenantConfiguration`.
 */
export class TenantConfigurationStore extends Context.Service<
  TenantConfigurationStore,
  {
    readonly preferences: (tenantId: TenantId) => Effect.Effect<TenantPreferences>
    readonly patchPreferences: (tenantId: TenantId, patch: TenantPreferencesPatch) => Effect.Effect<TenantPreferences>
    /** Each origin that a tenant which is not disabled names. */
    readonly origins: Effect.Effect<ReadonlyArray<{ readonly tenantId: TenantId; readonly origin: string }>>
    readonly fee: (tenantId: TenantId) => Effect.Effect<SwapFee>
    readonly patchFee: (tenantId: TenantId, patch: Partial<SwapFee>) => Effect.Effect<SwapFee>
  }
>()("ballast/domain/tenant/TenantConfigurationStore") {}
