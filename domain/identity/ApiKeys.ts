/**
 * Tells who a caller is from an API key.
 *
 * A key that was found is remembered for a few seconds, so a revocation takes effect within that time in every process
 * (docs/decisions/0004-api-keys.md). Unknown keys are never remembered.
 */
import { Cache, Clock, Context, Duration, Effect, Exit, Layer, type Redacted } from "effect"
import { KeyExpired, KeyInvalid, TenantDisabled } from "#domain/Errors.ts"
import type { Caller } from "#domain/identity/Caller.ts"
import { KeyHash } from "#domain/identity/KeyHash.ts"
import type { ApiKey, Tenant } from "#domain/identity/Tenant.ts"
import { TenantStore } from "#domain/identity/TenantStore.ts"

const rememberFor = Duration.seconds(5)
const remembered = 10_000

/** A key that was found, judged as far as time cannot change it. One a key, shared by all its requests. */
interface KnownKey {
  readonly caller: Caller["Service"]
  readonly isRevoked: boolean
  /** Milliseconds since the epoch; infinity when the key never expires. */
  readonly expiresAt: number
  readonly tenantIsDisabled: boolean
}

const knownKey = ({ key, tenant }: { readonly key: ApiKey; readonly tenant: Tenant }): KnownKey => ({
  caller: {
    tenantId: tenant.tenantId,
    tenantName: tenant.name,
    tenantEmail: tenant.email,
    entitlements: new Set(tenant.entitlements),
    apiKeyId: key.apiKeyId,
    scopes: new Set(key.scopes)
  },
  isRevoked: key.revokedAt !== null,
  expiresAt: key.expiresAt === null ? Number.POSITIVE_INFINITY : key.expiresAt.epochMilliseconds,
  tenantIsDisabled: tenant.disabledAt !== null
})

const refuseUnknown = Effect.suspend(() =>
  Effect.fail(new KeyInvalid({ message: "The API key is unknown or revoked; send a live key in x-api-key" }))
)

type Authenticated = Effect.Effect<Caller["Service"], KeyInvalid | KeyExpired | TenantDisabled>

const judge = ({ caller, expiresAt, isRevoked, tenantIsDisabled }: KnownKey, now: number): Authenticated => {
  if (isRevoked) return refuseUnknown
  if (expiresAt <= now) {
    return Effect.fail(new KeyExpired({ message: `The API key ${caller.apiKeyId} has expired; create a new one` }))
  }
  if (tenantIsDisabled) {
    return Effect.fail(new TenantDisabled({ message: "The tenant is disabled; contact support" }))
  }
  return Effect.succeed(caller)
}

export class ApiKeys extends Context.Service<
  ApiKeys,
  { readonly authenticate: (secret: Redacted.Redacted<string>) => Authenticated }
>()("ballast/domain/identity/ApiKeys") {
  static readonly layer = Layer.effect(
    ApiKeys,
    Effect.gen(function* () {
      const store = yield* TenantStore
      const { hash } = yield* KeyHash
      const clock = yield* Clock.Clock

      // By the secret, which Redacted compares by value: a hash a request would cost more than the rest of this.
      const find = (secret: Redacted.Redacted<string>) =>
        Effect.map(Effect.flatMap(store.findKeyByHash(hash(secret)), Effect.fromOption), knownKey)

      const known = yield* Cache.makeWith(find, {
        capacity: remembered,
        timeToLive: (exit) => (Exit.isSuccess(exit) ? rememberFor : Duration.zero)
      })

      return ApiKeys.of({
        authenticate: (secret) =>
          Effect.matchEffect(Cache.get(known, secret), {
            onFailure: () => refuseUnknown,
            onSuccess: (key) => judge(key, clock.currentTimeMillisUnsafe())
          })
      })
    })
  )
}
