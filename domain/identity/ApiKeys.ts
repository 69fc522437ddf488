/**
 * Authenticates a caller by an API key.
 *
 * A key that was found is cached for a few seconds, so a revocation takes effect within that time in every process, and
 * at once in the one that revokes (docs/decisions/0004-api-keys.md). Unknown keys are never cached.
 */
import { Clock, Context, DateTime, Duration, Effect, Layer, Option, Redacted } from "effect"
import { KeyExpired, KeyInvalid, type TenantDisabled } from "#domain/errors/Errors.ts"
import { AccessChanges } from "#domain/identity/AccessChanges.ts"
import type { Caller } from "#domain/identity/Caller.ts"
import { KeyEnvironment, strangerTo } from "#domain/identity/KeyEnvironment.ts"
import { KeyHash } from "#domain/identity/KeyHash.ts"
import { type ApiKey, type Tenant, tenantDisabled } from "#domain/identity/Tenant.ts"
import { TenantStore } from "#domain/identity/TenantStore.ts"
import type { ApiKeyId } from "#domain/values/Ids.ts"
import { keepGoingEvery } from "#domain/effects/keepGoing.ts"

const cacheForMs = 5_000
const maxCached = 10_000
const noteUsesEvery = Duration.seconds(10)

/** A key that was found, judged as far as time cannot change it. One a key, shared by all its requests. */
interface KnownKey {
  readonly caller: Caller["Service"]
  readonly isRevoked: boolean
  /** Milliseconds since the epoch; infinity when the key never expires. */
  readonly expiresAt: number
  readonly tenantIsDisabled: boolean
}

export const knownKey = ({ key, tenant }: { readonly key: ApiKey; readonly tenant: Tenant }): KnownKey => ({
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

export const unknownKey = "The API key is unknown or revoked; send one that is in use in x-api-key"

/** Why the key lets nobody in at a time, in milliseconds since the epoch; undefined where it does. */
export const refusalOfKey = (
  { caller, expiresAt, isRevoked, tenantIsDisabled }: KnownKey,
  now: number
): KeyInvalid | KeyExpired | TenantDisabled | undefined => {
  if (isRevoked) return new KeyInvalid({ message: unknownKey })
  if (expiresAt <= now)
    return new KeyExpired({ message: `The API key ${caller.apiKeyId} has expired; create a new one` })
  return tenantIsDisabled ? tenantDisabled() : undefined
}

const refuse = (message: string) => Effect.suspend(() => Effect.fail(new KeyInvalid({ message })))

type Authenticated = Effect.Effect<Caller["Service"], KeyInvalid | KeyExpired | TenantDisabled>

const judge = (known: KnownKey, now: number): Authenticated => {
  const refusal = refusalOfKey(known, now)
  return refusal === undefined ? Effect.succeed(known.caller) : Effect.fail(refusal)
}

/**
 * Authenticates the caller of a request by its API key.
 *
 * **When to use**
 *
 * Use in middleware that provides `Caller`. Keys are made and revoked by `Tenants` and `OwnKeys`.
 *
 * **Details**
 *
 * Fails with `KeyInvalid`, `KeyExpired` or `TenantDisabled`. A key that another process revoked may count for a few
 * seconds more.
 */
export class ApiKeys extends Context.Service<
  ApiKeys,
  {
    /**
     * The caller behind the text of the `x-api-key` header. It is not Redacted: the request holds it in the open
     * anyway, and a Redacted for every request, an entry in a weak map each, costs more than looking the key up.
     */
    readonly authenticate: (secret: string) => Authenticated
  }
>()("ballast/domain/identity/ApiKeys") {
  static readonly layer = Layer.effect(
    ApiKeys,
    Effect.gen(function* () {
      const store = yield* TenantStore
      const { hashes, pepperName } = yield* KeyHash
      const clock = yield* Clock.Clock
      const environment = yield* KeyEnvironment

      // A key in use is looked up every few seconds, so nothing is noted in the requests between.
      const uses = new Map<ApiKeyId, DateTime.Utc>()
      const noteUses = Effect.suspend(() => {
        if (uses.size === 0) return Effect.void
        const noted = new Map(uses)
        uses.clear()
        return store.noteUses(noted)
      })
      yield* Effect.addFinalizer(() => Effect.ignoreCause(noteUses))
      yield* keepGoingEvery(noteUses, {
        complaint: "When keys were used could not be noted",
        interval: noteUsesEvery
      })

      // By the secret itself: a keyed hash a request would cost more than all the rest. In order of insertion, so of
      // age.
      const known = new Map<string, { readonly key: KnownKey; readonly until: number }>()

      /** How often access changed here: what was read before the last time is not kept. */
      let changes = 0
      yield* (yield* AccessChanges).onChange((tenantId) => {
        changes += 1
        for (const [secret, { key }] of known) if (key.caller.tenantId === tenantId) known.delete(secret)
      })

      const cache = (secret: string, key: KnownKey, now: number) => {
        known.delete(secret)
        if (known.size >= maxCached) known.delete(known.keys().next().value!)
        known.set(secret, { key, until: now + cacheForMs })
      }

      /** Hashes a key again under today's pepper; a key that is accepted works even where this cannot be written. */
      const rehash = (apiKeyId: ApiKeyId, hash: Uint8Array) =>
        store
          .rehashKey(apiKeyId, { hash, pepper: pepperName })
          .pipe(
            Effect.catchCause((cause) => Effect.logWarning("A key could not be stored under the new pepper", cause))
          )

      const lookUp = (secret: string): Authenticated =>
        Effect.suspend(() => {
          const ofSecret = hashes(Redacted.make(secret))
          const changesBefore = changes
          return Effect.flatMap(
            store.findKeyByHash(ofSecret),
            Option.match({
              onNone: () => refuse(strangerTo(environment, secret) ?? unknownKey),
              onSome: (found) => {
                const { apiKeyId, environment: madeFor } = found.key
                // A database that was copied from the other environment has its keys too.
                if (madeFor !== environment) return refuse(strangerTo(environment, secret) ?? unknownKey)
                const key = knownKey(found)
                const now = clock.currentTimeMillisUnsafe()
                if (changes === changesBefore) cache(secret, key, now)
                if (uses.size < maxCached) uses.set(apiKeyId, DateTime.makeUnsafe(now))
                return found.pepper === pepperName
                  ? judge(key, now)
                  : Effect.tap(judge(key, now), () => rehash(apiKeyId, ofSecret.current))
              }
            })
          )
        })

      return ApiKeys.of({
        authenticate: (secret) => {
          const now = clock.currentTimeMillisUnsafe()
          const hit = known.get(secret)
          return hit !== undefined && hit.until > now ? judge(hit.key, now) : lookUp(secret)
        }
      })
    })
  )
}
