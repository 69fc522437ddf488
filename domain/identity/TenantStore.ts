/** Port: where tenants and key hashes are kept. */
import { Context, type DateTime, type Effect, type Option } from "effect"
import type { ApiKey, ListedKey, Tenant } from "#domain/identity/Tenant.ts"
import type { ApiKeyId, TenantId } from "#domain/Ids.ts"
import type { OwnerAddress } from "#domain/OwnerAddress.ts"

export class TenantStore extends Context.Service<
  TenantStore,
  {
    readonly insertTenant: (tenant: Tenant) => Effect.Effect<void>
    readonly findTenant: (tenantId: TenantId) => Effect.Effect<Option.Option<Tenant>>
    /** All tenants, oldest first. */
    readonly listTenants: Effect.Effect<ReadonlyArray<Tenant>>
    /** Sets when the tenant was disabled, or null; a time that stands is kept. None when there is no such tenant. */
    readonly setDisabled: (tenantId: TenantId, at: DateTime.Utc | null) => Effect.Effect<Option.Option<Tenant>>
    /** Replaces the entitlements. None when there is no such tenant. */
    readonly setEntitlements: (
      tenantId: TenantId,
      entitlements: ReadonlyArray<string>
    ) => Effect.Effect<Option.Option<Tenant>>
    /** Sets or takes back whose the tenant's strategies are. False when there is no such tenant. */
    readonly setOwner: (tenantId: TenantId, ownerAddress: OwnerAddress | null) => Effect.Effect<boolean>
    readonly insertKey: (key: ApiKey, hash: Uint8Array) => Effect.Effect<void>
    /** The key with that hash and its tenant, revoked and expired ones included. */
    readonly findKeyByHash: (
      hash: Uint8Array
    ) => Effect.Effect<Option.Option<{ readonly key: ApiKey; readonly tenant: Tenant }>>
    readonly listKeys: (tenantId: TenantId) => Effect.Effect<ReadonlyArray<ListedKey>>
    /** Notes when keys were used; an earlier time than the noted one changes nothing. */
    readonly noteUses: (uses: ReadonlyMap<ApiKeyId, DateTime.Utc>) => Effect.Effect<void>
    /** False when the tenant has no such key. Revoking twice keeps the first time. */
    readonly revokeKey: (tenantId: TenantId, apiKeyId: ApiKeyId, at: DateTime.Utc) => Effect.Effect<boolean>
  }
>()("ballast/domain/identity/TenantStore") {}
