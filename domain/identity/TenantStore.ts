/** Port: where tenants and key hashes are kept. */
import { Context, type DateTime, type Effect, type Option } from "effect"
import type { ApiKey, Tenant } from "#domain/identity/Tenant.ts"
import type { SecretHashes } from "#domain/identity/KeyHash.ts"
import type { ApiKeyId, TenantId } from "#domain/values/Ids.ts"
import type { OwnerAddress } from "#domain/values/OwnerAddress.ts"

export interface StoredHash {
  readonly hash: Uint8Array
  /** Name of the pepper under which it was made (`KeyHash.pepperName`). */
  readonly pepper: string
}

export interface FoundKey {
  readonly key: ApiKey
  readonly tenant: Tenant
  /** Name of the pepper under which its hash was made. */
  readonly pepper: string
}

export interface KeyRotation {
  readonly apiKeyId: ApiKeyId
  readonly endsAt: DateTime.Utc
  readonly next: ApiKey
  readonly hash: StoredHash
}

/**
 * Where tenants and hashes of their keys are kept.
 *
 * **When to use**
 *
 * Use in services of this context alone.
 */
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
    readonly insertKey: (key: ApiKey, hash: StoredHash) => Effect.Effect<void>
    /** The key with one of the hashes and its tenant, revoked and expired ones included. */
    readonly findKeyByHash: (hashes: SecretHashes) => Effect.Effect<Option.Option<FoundKey>>
    /** Those of the keys that are there, with their tenants, revoked and expired ones included. */
    readonly findKeys: (apiKeyIds: ReadonlyArray<ApiKeyId>) => Effect.Effect<ReadonlyArray<Omit<FoundKey, "pepper">>>
    /** Notes when keys were used; an earlier time than the noted one changes nothing. */
    readonly noteUses: (uses: ReadonlyMap<ApiKeyId, DateTime.Utc>) => Effect.Effect<void>
    /** The hash that the key has from now on. */
    readonly rehashKey: (apiKeyId: ApiKeyId, hash: StoredHash) => Effect.Effect<void>
    /**
     * Puts `next` beside the key and lets the key end at `endsAt` at the latest, in one step. False when the tenant has
     * no such key, or it is revoked or replaced.
     */
    readonly replaceKey: (rotation: KeyRotation) => Effect.Effect<boolean>
    readonly listKeys: (tenantId: TenantId) => Effect.Effect<ReadonlyArray<ApiKey>>
    /** False when the tenant has no such key. Revoking twice keeps the first time. */
    readonly revokeKey: (tenantId: TenantId, apiKeyId: ApiKeyId, at: DateTime.Utc) => Effect.Effect<boolean>
  }
>()("ballast/domain/identity/TenantStore") {}
