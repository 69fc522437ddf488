/**
 * Tells who a caller is from an API key.
 *
 * A key that was found is remembered for a few seconds, so a revocation takes effect within that time in every process
 * (docs/decisions/0004-api-keys.md). Unknown keys are never remembered.
 */
import { Cache, Clock, Context, Duration, Effect, Exit, Layer, Option, type Redacted, Result } from "effect"
import { Hex } from "effect/encoding"
import { KeyExpired, KeyInvalid, TenantDisabled } from "#domain/Errors.ts"
import type { Caller } from "#domain/identity/Caller.ts"
import { KeyHash } from "#domain/identity/KeyHash.ts"
import { TenantStore } from "#domain/identity/TenantStore.ts"

const rememberFor = Duration.seconds(5)
const remembered = 10_000

export class ApiKeys extends Context.Service<
  ApiKeys,
  {
    readonly authenticate: (
      secret: Redacted.Redacted<string>
    ) => Effect.Effect<Caller["Service"], KeyInvalid | KeyExpired | TenantDisabled>
  }
>()("ballast/domain/identity/ApiKeys") {
  static readonly layer = Layer.effect(
    ApiKeys,
    Effect.gen(function* () {
      const store = yield* TenantStore
      const { hash } = yield* KeyHash

      const known = yield* Cache.makeWith(
        (hex: string) => Effect.flatMap(store.findKeyByHash(Result.getOrThrow(Hex.decode(hex))), Effect.fromOption),
        { capacity: remembered, timeToLive: (exit) => (Exit.isSuccess(exit) ? rememberFor : Duration.zero) }
      )

      const authenticate = Effect.fnUntraced(function* (secret: Redacted.Redacted<string>) {
        const found = yield* Effect.option(Cache.get(known, Hex.encode(hash(secret))))
        if (Option.isNone(found) || found.value.key.revokedAt !== null) {
          return yield* new KeyInvalid({ message: "The API key is unknown or revoked; send a live key in x-api-key" })
        }
        const { key, tenant } = found.value
        if (key.expiresAt !== null && key.expiresAt.epochMilliseconds <= (yield* Clock.currentTimeMillis)) {
          return yield* new KeyExpired({ message: `The API key ${key.apiKeyId} has expired; create a new one` })
        }
        if (tenant.disabledAt !== null) {
          return yield* new TenantDisabled({ message: "The tenant is disabled; contact support" })
        }
        return {
          tenantId: tenant.tenantId,
          tenantName: tenant.name,
          tenantEmail: tenant.email,
          entitlements: new Set(tenant.entitlements),
          apiKeyId: key.apiKeyId,
          scopes: new Set(key.scopes)
        }
      })

      return ApiKeys.of({ authenticate })
    })
  )
}
