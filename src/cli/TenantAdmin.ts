/** What the command line can do with tenants and keys, whichever way it reaches them. */
import { Context, type DateTime, type Effect, type Redacted, Schema } from "effect"
import type { ApiKey, Tenant } from "#domain/identity/Tenant.ts"
import type { NewKey, NewTenant } from "#domain/identity/Tenants.ts"
import type { ApiKeyId, TenantId } from "#domain/values/Ids.ts"

/** A command that was not carried out; the message is why and what to do. */
export class AdminFailed extends Schema.TaggedError<AdminFailed>()("AdminFailed", { reason: Schema.String }) {
  override get message() {
    return this.reason
  }
}

/** A new key as people need it: the secret, shown this once, and what identifies the key afterwards. */
export interface IssuedKey {
  readonly apiKeyId: ApiKeyId
  readonly name: string
  readonly scopes: ReadonlyArray<string>
  readonly expiresAt: DateTime.Utc | null
  readonly secret: Redacted.Redacted
}

/** A new key in the place of another. */
export interface RotatedKey extends IssuedKey {
  readonly replaces: { readonly apiKeyId: ApiKeyId; readonly endsAt: DateTime.Utc }
}

/** A key as lists show it. */
export type ListedKey = Omit<ApiKey, "environment">

export class TenantAdmin extends Context.Service<
  TenantAdmin,
  {
    readonly create: (tenant: NewTenant) => Effect.Effect<Tenant, AdminFailed>
    readonly list: Effect.Effect<ReadonlyArray<Tenant>, AdminFailed>
    readonly disable: (tenantId: TenantId) => Effect.Effect<Tenant, AdminFailed>
    readonly enable: (tenantId: TenantId) => Effect.Effect<Tenant, AdminFailed>
    readonly createKey: (tenantId: TenantId, key: NewKey) => Effect.Effect<IssuedKey, AdminFailed>
    /** The key before works for `overlapSeconds` more. */
    readonly rotateKey: (
      tenantId: TenantId,
      apiKeyId: ApiKeyId,
      overlapSeconds: number
    ) => Effect.Effect<RotatedKey, AdminFailed>
    readonly listKeys: (tenantId: TenantId) => Effect.Effect<ReadonlyArray<ListedKey>, AdminFailed>
    readonly revokeKey: (tenantId: TenantId, apiKeyId: ApiKeyId) => Effect.Effect<void, AdminFailed>
  }
>()("ballast/src/cli/TenantAdmin") {}
