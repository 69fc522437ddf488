/** Administration of tenants and their API keys. The secret of a key is shown once and stored only as a keyed hash. */
import { Context, DateTime, Effect, Layer, Option, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { Base64Url } from "effect/encoding"
import { NotFound } from "#domain/Errors.ts"
import { KeyEnvironment, prefixOf } from "#domain/identity/KeyEnvironment.ts"
import { KeyHash } from "#domain/identity/KeyHash.ts"
import type { ApiKey, ListedKey, Tenant } from "#domain/identity/Tenant.ts"
import { TenantStore } from "#domain/identity/TenantStore.ts"
import { type ApiKeyId, makeApiKeyId, makeTenantId, type TenantId } from "#domain/Ids.ts"
import type { OwnerAddress } from "#domain/OwnerAddress.ts"
import { defaultScopes, type Scope } from "#domain/Scopes.ts"

/** A key at the only moment when its secret is known. */
export interface CreatedKey {
  readonly key: ApiKey
  readonly secret: Redacted.Redacted<string>
}

export interface NewTenant {
  readonly name: string
  readonly email: string
  readonly entitlements: ReadonlyArray<string>
}

export interface NewKey {
  readonly name: string
  /** Added to the scopes that every key has. */
  readonly scopes: ReadonlyArray<Scope>
  readonly expiresAt: DateTime.Utc | null
}

const unknownTenant = (tenantId: TenantId) => new NotFound({ message: `There is no tenant ${tenantId}` })

export class Tenants extends Context.Service<
  Tenants,
  {
    readonly create: (tenant: NewTenant) => Effect.Effect<Tenant>
    readonly list: Effect.Effect<ReadonlyArray<Tenant>>
    /**
     * Locks a tenant out: none of its keys works until it is enabled again. What its users have agreed to goes on,
     * since their portfolios are theirs. Disabling again keeps the first time.
     */
    readonly disable: (tenantId: TenantId) => Effect.Effect<Tenant, NotFound>
    readonly enable: (tenantId: TenantId) => Effect.Effect<Tenant, NotFound>
    /** Replaces what the tenant may do beside what every tenant may. */
    readonly setEntitlements: (
      tenantId: TenantId,
      entitlements: ReadonlyArray<string>
    ) => Effect.Effect<Tenant, NotFound>
    /** Says whose the tenant's strategies are, beside the wallets that sign in as its owners; null takes it back. */
    readonly setOwner: (tenantId: TenantId, ownerAddress: OwnerAddress | null) => Effect.Effect<void, NotFound>
    readonly createKey: (tenantId: TenantId, key: NewKey) => Effect.Effect<CreatedKey, NotFound>
    readonly listKeys: (tenantId: TenantId) => Effect.Effect<ReadonlyArray<ListedKey>, NotFound>
    /** The key stops working; revoking again changes nothing. */
    readonly revokeKey: (tenantId: TenantId, apiKeyId: ApiKeyId) => Effect.Effect<void, NotFound>
  }
>()("ballast/domain/identity/Tenants") {
  static readonly layer = Layer.effect(
    Tenants,
    Effect.gen(function* () {
      const store = yield* TenantStore
      const { hash } = yield* KeyHash
      const random = yield* SecureRandom.SecureRandom
      const environment = yield* KeyEnvironment
      const provideRandom = Effect.provideService(SecureRandom.SecureRandom, random)

      const requireTenant = Effect.fnUntraced(function* (tenantId: TenantId) {
        const tenant = yield* store.findTenant(tenantId)
        return Option.isNone(tenant) ? yield* unknownTenant(tenantId) : tenant.value
      })

      const create = Effect.fn("Tenants.create")(function* (input: NewTenant) {
        const tenant: Tenant = {
          tenantId: yield* provideRandom(makeTenantId),
          name: input.name,
          email: input.email,
          entitlements: input.entitlements,
          createdAt: yield* DateTime.now,
          disabledAt: null
        }
        yield* store.insertTenant(tenant)
        return tenant
      })

      const setDisabled = Effect.fnUntraced(function* (tenantId: TenantId, disabledAt: DateTime.Utc | null) {
        const tenant = yield* store.setDisabled(tenantId, disabledAt)
        return Option.isNone(tenant) ? yield* unknownTenant(tenantId) : tenant.value
      })

      const disable = Effect.fn("Tenants.disable")((tenantId: TenantId) =>
        Effect.flatMap(DateTime.now, (now) => setDisabled(tenantId, now))
      )

      const enable = Effect.fn("Tenants.enable")((tenantId: TenantId) => setDisabled(tenantId, null))

      const setEntitlements = Effect.fn("Tenants.setEntitlements")(function* (
        tenantId: TenantId,
        entitlements: ReadonlyArray<string>
      ) {
        const tenant = yield* store.setEntitlements(tenantId, [...new Set(entitlements)])
        return Option.isNone(tenant) ? yield* unknownTenant(tenantId) : tenant.value
      })

      const setOwner = Effect.fn("Tenants.setOwner")(function* (tenantId: TenantId, ownerAddress: OwnerAddress | null) {
        if (!(yield* store.setOwner(tenantId, ownerAddress))) return yield* unknownTenant(tenantId)
      })

      const createKey = Effect.fn("Tenants.createKey")(function* (tenantId: TenantId, input: NewKey) {
        yield* requireTenant(tenantId)
        const secret = `${prefixOf(environment)}${Base64Url.encode(yield* random.randomBytes(32))}`
        const key: ApiKey = {
          apiKeyId: yield* provideRandom(makeApiKeyId),
          tenantId,
          name: input.name,
          preview: secret.slice(0, 12),
          scopes: [...new Set([...defaultScopes, ...input.scopes])],
          createdAt: yield* DateTime.now,
          expiresAt: input.expiresAt,
          revokedAt: null,
          environment
        }
        const redacted = Redacted.make(secret)
        yield* store.insertKey(key, hash(redacted))
        return { key, secret: redacted }
      })

      const listKeys = Effect.fn("Tenants.listKeys")(function* (tenantId: TenantId) {
        yield* requireTenant(tenantId)
        return yield* store.listKeys(tenantId)
      })

      const revokeKey = Effect.fn("Tenants.revokeKey")(function* (tenantId: TenantId, apiKeyId: ApiKeyId) {
        const revoked = yield* store.revokeKey(tenantId, apiKeyId, yield* DateTime.now)
        if (!revoked) return yield* new NotFound({ message: `Tenant ${tenantId} has no key ${apiKeyId}` })
      })

      return Tenants.of({
        create,
        list: store.listTenants,
        disable,
        enable,
        setEntitlements,
        setOwner,
        createKey,
        listKeys,
        revokeKey
      })
    })
  )
}
