/** Administration of tenants and their API keys. The secret of a key is shown once and stored only as a keyed hash. */
import { Context, DateTime, Duration, Effect, Layer, Option, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { Base64Url } from "effect/encoding"
import { NotFound, ValidationFailed } from "#domain/errors/Errors.ts"
import { AccessChanges } from "#domain/identity/AccessChanges.ts"
import { KeyEnvironment, prefixOf } from "#domain/identity/KeyEnvironment.ts"
import { KeyHash } from "#domain/identity/KeyHash.ts"
import type { ApiKey, Tenant } from "#domain/identity/Tenant.ts"
import { TenantStore } from "#domain/identity/TenantStore.ts"
import { type ApiKeyId, makeApiKeyId, makeTenantId, type TenantId } from "#domain/values/Ids.ts"
import type { OwnerAddress } from "#domain/values/OwnerAddress.ts"
import { defaultScopes, type Scope } from "#domain/values/Scopes.ts"

/** A key at the only moment when its secret is known. */
export interface CreatedKey {
  readonly key: ApiKey
  readonly secret: Redacted.Redacted<string>
}

export interface RotatedKey extends CreatedKey {
  /** End of the previous key. */
  readonly oldEndsAt: DateTime.Utc
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

const unknownKey = (tenantId: TenantId, apiKeyId: ApiKeyId) =>
  new NotFound({ message: `Tenant ${tenantId} has no key ${apiKeyId}` })

const notRotated = ({ apiKeyId, expiresAt, replacedBy, revokedAt }: ApiKey) => {
  const why =
    replacedBy !== null
      ? `was rotated into ${replacedBy} already; rotate that one`
      : revokedAt !== null
        ? "is revoked; create a key"
        : expiresAt === null
          ? "was changed meanwhile; list the keys again"
          : `has ended or was changed meanwhile (${DateTime.formatIso(expiresAt)}); list the keys again`
  return new ValidationFailed({
    message: `The key ${apiKeyId} ${why}`,
    details: [`apiKeyId: ${apiKeyId} ${why}`]
  })
}

/**
 * Tenants and their API keys, as the operator manages them.
 *
 * **When to use**
 *
 * Use in admin routes and in the command line. The tenant's own people use `OwnKeys` and `Members`.
 *
 * **Example** (A tenant with one key)
 *
 * ```ts
 * import { Effect } from "effect"
 * import { Tenants } from "#domain/identity/Tenants.ts"
 *
 * const acme = Effect.gen(function* () {
 *   const tenants = yield* Tenants
 *   const { tenantId } = yield* tenants.create({ name: "Acme", email: "ops@acme.example", entitlements: [] })
 *   return yield* tenants.createKey(tenantId, { name: "server", scopes: ["portfolios:read"], expiresAt: null })
 * })
 * ```
 */
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
    /** Sets whose the tenant's strategies are, beside the wallets that sign in as its owners; null removes it. */
    readonly setOwner: (tenantId: TenantId, ownerAddress: OwnerAddress | null) => Effect.Effect<void, NotFound>
    readonly createKey: (tenantId: TenantId, key: NewKey) => Effect.Effect<CreatedKey, NotFound>
    /**
     * A key with the name, the scopes and the length of life of another one, which works for `overlap` more and then
     * ends. A key is rotated once, and not when it has ended.
     */
    readonly rotateKey: (
      tenantId: TenantId,
      apiKeyId: ApiKeyId,
      overlap: Duration.Duration
    ) => Effect.Effect<RotatedKey, NotFound | ValidationFailed>
    readonly listKeys: (tenantId: TenantId) => Effect.Effect<ReadonlyArray<ApiKey>, NotFound>
    /** The key stops working, at once in this process; revoking again changes nothing. */
    readonly revokeKey: (tenantId: TenantId, apiKeyId: ApiKeyId) => Effect.Effect<void, NotFound>
  }
>()("ballast/domain/identity/Tenants") {
  static readonly layer = Layer.effect(
    Tenants,
    Effect.gen(function* () {
      const store = yield* TenantStore
      const { hash, pepperName } = yield* KeyHash
      const random = yield* SecureRandom.SecureRandom
      const environment = yield* KeyEnvironment
      const { changed } = yield* AccessChanges
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
        yield* changed(tenantId)
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
        yield* changed(tenantId)
        return Option.isNone(tenant) ? yield* unknownTenant(tenantId) : tenant.value
      })

      const setOwner = Effect.fn("Tenants.setOwner")(function* (tenantId: TenantId, ownerAddress: OwnerAddress | null) {
        if (!(yield* store.setOwner(tenantId, ownerAddress))) return yield* unknownTenant(tenantId)
      })

      const storedHash = (secret: Redacted.Redacted) => ({ hash: hash(secret), pepper: pepperName })

      const newKey = Effect.fnUntraced(function* (tenantId: TenantId, { expiresAt, name, scopes }: NewKey) {
        const secret = `${prefixOf(environment)}${Base64Url.encode(yield* random.randomBytes(32))}`
        const key: ApiKey = {
          apiKeyId: yield* provideRandom(makeApiKeyId),
          tenantId,
          name,
          preview: secret.slice(0, 12),
          scopes: [...new Set([...defaultScopes, ...scopes])],
          createdAt: yield* DateTime.now,
          expiresAt,
          revokedAt: null,
          lastUsedAt: null,
          replacedBy: null,
          environment
        }
        return { key, secret: Redacted.make(secret) } satisfies CreatedKey
      })

      const createKey = Effect.fn("Tenants.createKey")(function* (tenantId: TenantId, input: NewKey) {
        yield* requireTenant(tenantId)
        const created = yield* newKey(tenantId, input)
        yield* store.insertKey(created.key, storedHash(created.secret))
        return created
      })

      const listKeys = Effect.fn("Tenants.listKeys")(function* (tenantId: TenantId) {
        yield* requireTenant(tenantId)
        return yield* store.listKeys(tenantId)
      })

      const rotateKey = Effect.fn("Tenants.rotateKey")(function* (
        tenantId: TenantId,
        apiKeyId: ApiKeyId,
        overlap: Duration.Duration
      ) {
        const keys = yield* listKeys(tenantId)
        const old = keys.find((key) => key.apiKeyId === apiKeyId)
        if (old === undefined) return yield* unknownKey(tenantId, apiKeyId)
        const now = yield* DateTime.now
        const isOver = old.expiresAt !== null && DateTime.isLessThanOrEqualTo(old.expiresAt, now)
        if (isOver || old.revokedAt !== null || old.replacedBy !== null) return yield* notRotated(old)
        const created = yield* newKey(tenantId, {
          name: old.name,
          scopes: old.scopes,
          expiresAt:
            old.expiresAt === null
              ? null
              : DateTime.add(now, {
                  milliseconds: DateTime.distance(old.createdAt, old.expiresAt).pipe(Duration.toMillis)
                })
        })
        const endsAt = DateTime.addDuration(now, overlap)
        const hashOf = storedHash(created.secret)
        if (!(yield* store.replaceKey({ apiKeyId, endsAt, next: created.key, hash: hashOf })))
          return yield* notRotated(old)
        yield* changed(tenantId)
        return { ...created, oldEndsAt: old.expiresAt === null ? endsAt : DateTime.min(old.expiresAt, endsAt) }
      })

      const revokeKey = Effect.fn("Tenants.revokeKey")(function* (tenantId: TenantId, apiKeyId: ApiKeyId) {
        const revoked = yield* store.revokeKey(tenantId, apiKeyId, yield* DateTime.now)
        if (!revoked) return yield* unknownKey(tenantId, apiKeyId)
        yield* changed(tenantId)
      })

      return Tenants.of({
        create,
        list: store.listTenants,
        disable,
        enable,
        setEntitlements,
        setOwner,
        createKey,
        rotateKey,
        listKeys,
        revokeKey
      })
    })
  )
}
