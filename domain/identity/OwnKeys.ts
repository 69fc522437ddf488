/** The API keys of a signed-in user's tenant. Members see them, owners make and revoke them. */
import { Context, DateTime, Effect, Layer, Option } from "effect"
import { type NotFound, PermissionDenied, ValidationFailed } from "#domain/errors/Errors.ts"
import { requireOwner } from "#domain/identity/Members.ts"
import { SignedIn } from "#domain/identity/SignedIn.ts"
import type { ApiKey } from "#domain/identity/Tenant.ts"
import { TenantStore } from "#domain/identity/TenantStore.ts"
import { type CreatedKey, type NewKey, Tenants } from "#domain/identity/Tenants.ts"
import type { ApiKeyId } from "#domain/values/Ids.ts"
import { grantableScopes } from "#domain/values/Scopes.ts"

/** Keys of a tenant that are not revoked, at most. */
const maxKeys = 100

/**
 * API keys, as the people of their tenant manage them.
 *
 * **When to use**
 *
 * Use in procedures with a session. The operator manages keys of any tenant with `Tenants`.
 */
export class OwnKeys extends Context.Service<
  OwnKeys,
  {
    /** A key with the scopes that every key has and the requested ones, which must be the tenant's to give. */
    readonly create: (key: NewKey) => Effect.Effect<CreatedKey, PermissionDenied | ValidationFailed, SignedIn>
    readonly list: Effect.Effect<ReadonlyArray<ApiKey>, never, SignedIn>
    readonly revoke: (apiKeyId: ApiKeyId) => Effect.Effect<void, PermissionDenied | NotFound, SignedIn>
  }
>()("ballast/domain/identity/OwnKeys") {
  static readonly layer = Layer.effect(
    OwnKeys,
    Effect.gen(function* () {
      const tenants = yield* Tenants
      const store = yield* TenantStore

      const list = Effect.flatMap(SignedIn, ({ tenantId }) => store.listKeys(tenantId)).pipe(
        Effect.withSpan("OwnKeys.list")
      )

      const create = Effect.fn("OwnKeys.create")(function* (key: NewKey) {
        yield* requireOwner
        const { tenantId } = yield* SignedIn
        const tenant = yield* store.findTenant(tenantId)
        const grantable = grantableScopes(Option.isNone(tenant) ? [] : tenant.value.entitlements)
        const beyond = key.scopes.filter((scope) => !grantable.has(scope))
        if (beyond.length > 0)
          return yield* new PermissionDenied({
            message: `The tenant may not give ${beyond.join(", ")}; ask the operator of the service for these scopes`
          })
        if (key.expiresAt !== null && DateTime.isLessThanOrEqualTo(key.expiresAt, yield* DateTime.now))
          return yield* new ValidationFailed({
            message: "Request validation failed",
            details: ["expiresAt: expected a time that is yet to come"]
          })
        const live = (yield* list).filter(({ revokedAt }) => revokedAt === null)
        if (live.length >= maxKeys)
          return yield* new ValidationFailed({
            message: `A tenant has at most ${maxKeys} keys that are not revoked; revoke one first`,
            details: [`name: ${maxKeys} keys are the most`]
          })
        return yield* Effect.orDie(tenants.createKey(tenantId, key))
      })

      const revoke = Effect.fn("OwnKeys.revoke")(function* (apiKeyId: ApiKeyId) {
        yield* requireOwner
        const { tenantId } = yield* SignedIn
        yield* tenants.revokeKey(tenantId, apiKeyId)
      })

      return OwnKeys.of({ create, list, revoke })
    })
  )
}
