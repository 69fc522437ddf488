/**
 * The life of API keys, to the millisecond: expiry, rotation over several live keys, and tenants that are locked out.
 */
import { assert, describe, it } from "@effect/vitest"
import { Context, DateTime, Duration, Effect, Fiber, Latch, Layer, Option, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { TestClock } from "effect/testing"
import { AccessChanges } from "#domain/identity/AccessChanges.ts"
import { ApiKeys } from "#domain/identity/ApiKeys.ts"
import type { ApiKey, Tenant } from "#domain/identity/Tenant.ts"
import { Tenants } from "#domain/identity/Tenants.ts"
import { TenantStore } from "#domain/identity/TenantStore.ts"
import type { ApiKeyId, TenantId } from "#domain/values/Ids.ts"
import { KeyHashConfig } from "#layers/identity/KeyHashConfig.ts"
import { KeyHashLive } from "#layers/identity/KeyHashLive.ts"

/** The look-up of a key has read when the first is open, and answers once the second is. */
class SlowLookUp extends Context.Service<
  SlowLookUp,
  { readonly isReading: Latch.Latch; readonly mayAnswer: Latch.Latch }
>()("ballast/test/SlowLookUp") {
  static readonly layer = Layer.sync(SlowLookUp, () => ({
    isReading: Latch.makeUnsafe(false),
    mayAnswer: Latch.makeUnsafe(true)
  }))
}

const makeStore = Effect.map(SlowLookUp, ({ isReading, mayAnswer }) => {
  const tenants = new Map<TenantId, Tenant>()
  const keys = new Map<string, ApiKey>()
  const uses = new Map<string, DateTime.Utc>()
  const text = (hash: Uint8Array) => Buffer.from(hash).toString("hex")
  return TenantStore.of({
    insertTenant: (tenant) => Effect.sync(() => void tenants.set(tenant.tenantId, tenant)),
    findTenant: (tenantId) => Effect.sync(() => Option.fromUndefinedOr(tenants.get(tenantId))),
    listTenants: Effect.sync(() => [...tenants.values()]),
    setEntitlements: (tenantId) => Effect.sync(() => Option.fromUndefinedOr(tenants.get(tenantId))),
    setDisabled: (tenantId, at) =>
      Effect.sync(() => {
        const tenant = tenants.get(tenantId)
        if (tenant === undefined) return Option.none()
        const changed = { ...tenant, disabledAt: at === null ? null : (tenant.disabledAt ?? at) }
        tenants.set(tenantId, changed)
        return Option.some(changed)
      }),
    setOwner: (tenantId) => Effect.sync(() => tenants.has(tenantId)),
    insertKey: (key, { hash }) => Effect.sync(() => void keys.set(text(hash), key)),
    findKeys: () => Effect.succeed([]),
    findKeyByHash: ({ current: hash }) =>
      Effect.sync(() =>
        Option.map(Option.fromUndefinedOr(keys.get(text(hash))), (key) => ({
          key,
          tenant: tenants.get(key.tenantId)!,
          pepper: "a pepper"
        }))
      ).pipe(Effect.tap(isReading.open), Effect.tap(mayAnswer.await)),
    rehashKey: () => Effect.void,
    replaceKey: ({ apiKeyId, endsAt, hash: { hash }, next }) =>
      Effect.sync(() => {
        const entry = [...keys].find(([, key]) => key.apiKeyId === apiKeyId && key.replacedBy === null)
        if (entry === undefined) return false
        keys.set(entry[0], { ...entry[1], replacedBy: next.apiKeyId, expiresAt: endsAt })
        keys.set(text(hash), next)
        return true
      }),
    listKeys: (tenantId) =>
      Effect.sync(() =>
        [...keys.values()]
          .filter((key) => key.tenantId === tenantId)
          .map((key) => ({ ...key, lastUsedAt: uses.get(key.apiKeyId) ?? null }))
      ),
    noteUses: (noted) =>
      Effect.sync(() => {
        for (const [apiKeyId, at] of noted) uses.set(apiKeyId, at)
      }),
    revokeKey: (tenantId, apiKeyId, at) =>
      Effect.sync(() => {
        const entry = [...keys].find(([, key]) => key.tenantId === tenantId && key.apiKeyId === apiKeyId)
        if (entry === undefined) return false
        keys.set(entry[0], { ...entry[1], revokedAt: entry[1].revokedAt ?? at })
        return true
      })
  })
})

const StoreInMemory = Layer.provideMerge(Layer.effect(TenantStore, makeStore), SlowLookUp.layer)

const Identity = Layer.mergeAll(ApiKeys.layer, Tenants.layer).pipe(
  Layer.provideMerge(StoreInMemory),
  Layer.provide([AccessChanges.layer, KeyHashLive, SecureRandom.layerWebCrypto]),
  Layer.provide(Layer.succeed(KeyHashConfig, { pepper: Redacted.make("pepper of this test") }))
)

const newTenant = Effect.flatMap(Tenants, (tenants) =>
  tenants.create({ name: "Northwind", email: "ops@northwind.test", entitlements: [] })
)

const newKey = Effect.fnUntraced(function* (tenantId: TenantId, expiresAt: DateTime.Utc | null = null) {
  const { key, secret } = yield* (yield* Tenants).createKey(tenantId, { name: "k", scopes: [], expiresAt })
  return { apiKeyId: key.apiKeyId, secret: Redacted.value(secret) }
})

/** `live`, or the tag of the refusal. */
const stateOf = (secret: string) =>
  Effect.flatMap(ApiKeys, (keys) => keys.authenticate(secret)).pipe(
    Effect.match({ onFailure: ({ _tag }) => _tag, onSuccess: () => "live" })
  )

describe("API keys", () => {
  for (const isCached of [false, true]) {
    it.effect(`expire at the very millisecond${isCached ? ", cached ones too" : ""}`, () =>
      Effect.gen(function* () {
        yield* TestClock.setTime(1_000_000)
        const { tenantId } = yield* newTenant
        const { secret } = yield* newKey(tenantId, DateTime.makeUnsafe(1_002_000))
        if (isCached) assert.strictEqual(yield* stateOf(secret), "live")
        yield* TestClock.setTime(1_001_999)
        assert.strictEqual(yield* stateOf(secret), "live")
        yield* TestClock.setTime(1_002_000)
        assert.strictEqual(yield* stateOf(secret), "KeyExpired")
        yield* TestClock.setTime(1_000_000_000)
        assert.strictEqual(yield* stateOf(secret), "KeyExpired")
      }).pipe(Effect.provide(Identity))
    )
  }

  it.effect("rotate without a gap: create, switch, revoke", () =>
    Effect.gen(function* () {
      const tenants = yield* Tenants
      const { tenantId } = yield* newTenant
      const old = yield* newKey(tenantId)
      assert.strictEqual(yield* stateOf(old.secret), "live")
      const fresh = yield* newKey(tenantId)
      assert.notStrictEqual(fresh.secret, old.secret)
      assert.deepStrictEqual([yield* stateOf(old.secret), yield* stateOf(fresh.secret)], ["live", "live"])
      yield* tenants.revokeKey(tenantId, old.apiKeyId)
      assert.deepStrictEqual([yield* stateOf(old.secret), yield* stateOf(fresh.secret)], ["KeyInvalid", "live"])
      assert.strictEqual((yield* tenants.listKeys(tenantId)).length, 2)
    }).pipe(Effect.provide(Identity))
  )

  it.effect("that another process revokes work for up to five seconds more where they are cached", () =>
    Effect.gen(function* () {
      const { tenantId } = yield* newTenant
      const { apiKeyId, secret } = yield* newKey(tenantId)
      assert.strictEqual(yield* stateOf(secret), "live")
      yield* (yield* TenantStore).revokeKey(tenantId, apiKeyId, yield* DateTime.now)
      yield* TestClock.adjust(4_999)
      assert.strictEqual(yield* stateOf(secret), "live")
      yield* TestClock.adjust(1)
      assert.strictEqual(yield* stateOf(secret), "KeyInvalid")
    }).pipe(Effect.provide(Identity))
  )

  it.effect("that are revoked here while they are looked up are not cached as they were", () =>
    Effect.gen(function* () {
      const { tenantId } = yield* newTenant
      const { apiKeyId, secret } = yield* newKey(tenantId)
      const { isReading, mayAnswer } = yield* SlowLookUp
      mayAnswer.closeUnsafe()
      const lookedUp = yield* Effect.forkChild(stateOf(secret))
      yield* isReading.await
      yield* (yield* Tenants).revokeKey(tenantId, apiKeyId)
      yield* mayAnswer.open
      assert.strictEqual(yield* Fiber.join(lookedUp), "live", "it was, when it was read")
      assert.strictEqual(yield* stateOf(secret), "KeyInvalid")
    }).pipe(Effect.provide(Identity))
  )

  it.effect("rotate in one step: the old one works for the stated overlap, to the millisecond, and then ends", () =>
    Effect.gen(function* () {
      const tenants = yield* Tenants
      yield* TestClock.setTime(1_000_000)
      const { tenantId } = yield* newTenant
      const old = yield* newKey(tenantId)
      const { key, oldEndsAt, secret } = yield* tenants.rotateKey(tenantId, old.apiKeyId, Duration.hours(2))
      assert.deepStrictEqual(oldEndsAt, DateTime.makeUnsafe(1_000_000 + 7_200_000))
      assert.deepStrictEqual([key.name, key.expiresAt], ["k", null])
      yield* TestClock.setTime(1_000_000 + 7_199_999)
      assert.deepStrictEqual([yield* stateOf(old.secret), yield* stateOf(Redacted.value(secret))], ["live", "live"])
      yield* TestClock.setTime(1_000_000 + 7_200_000)
      assert.deepStrictEqual(
        [yield* stateOf(old.secret), yield* stateOf(Redacted.value(secret))],
        ["KeyExpired", "live"]
      )
      const again = yield* Effect.flip(tenants.rotateKey(tenantId, old.apiKeyId, Duration.hours(2)))
      assert.include(again.message, `was rotated into ${key.apiKeyId} already`)
      assert.lengthOf(yield* tenants.listKeys(tenantId), 2, "bad input makes no key")
    }).pipe(Effect.provide(Identity))
  )

  it.effect(
    "are not rotated when they are revoked, over or another tenant's; one that ends gets the same length of life",
    () =>
      Effect.gen(function* () {
        const tenants = yield* Tenants
        yield* TestClock.setTime(1_000_000)
        const { tenantId } = yield* newTenant
        const stranger = yield* newTenant
        const refusal = (of: TenantId, id: ApiKeyId) =>
          Effect.map(Effect.flip(tenants.rotateKey(of, id, Duration.zero)), ({ message }) => message)
        const revoked = yield* newKey(tenantId)
        yield* tenants.revokeKey(tenantId, revoked.apiKeyId)
        assert.include(yield* refusal(tenantId, revoked.apiKeyId), "is revoked")
        const short = yield* newKey(tenantId, DateTime.makeUnsafe(1_500_000))
        assert.include(yield* refusal(stranger.tenantId, short.apiKeyId), "has no key")
        yield* TestClock.setTime(1_200_000)
        const { key } = yield* tenants.rotateKey(tenantId, short.apiKeyId, Duration.zero)
        assert.deepStrictEqual(key.expiresAt, DateTime.makeUnsafe(1_700_000))
        yield* TestClock.setTime(1_700_000)
        assert.include(yield* refusal(tenantId, key.apiKeyId), "has ended")
      }).pipe(Effect.provide(Identity))
  )

  it.effect("live side by side, each with its own end", () =>
    Effect.gen(function* () {
      const { tenantId } = yield* newTenant
      const keys = yield* Effect.forEach([1, 2, 3, null], (hours) =>
        newKey(tenantId, hours === null ? null : DateTime.makeUnsafe(hours * 3_600_000))
      )
      for (const expired of [0, 1, 2, 3]) {
        yield* TestClock.setTime(expired * 3_600_000)
        const states = yield* Effect.forEach(keys, ({ secret }) => stateOf(secret))
        const expected = keys.map((_, index) => (index < expired ? "KeyExpired" : "live"))
        assert.deepStrictEqual(states, expected)
      }
    }).pipe(Effect.provide(Identity))
  )

  it.effect("stop and work again with their tenant, and no other tenant's do", () =>
    Effect.gen(function* () {
      const tenants = yield* Tenants
      const [one, other] = [yield* newTenant, yield* newTenant]
      const [key, second, foreign] = [
        yield* newKey(one.tenantId),
        yield* newKey(one.tenantId),
        yield* newKey(other.tenantId)
      ]
      const states = Effect.forEach([key, second, foreign], ({ secret }) => stateOf(secret))
      assert.deepStrictEqual(yield* states, ["live", "live", "live"])

      const disabled = yield* tenants.disable(one.tenantId)
      assert.deepStrictEqual(disabled.disabledAt, DateTime.makeUnsafe(0))
      assert.deepStrictEqual(yield* states, ["TenantDisabled", "TenantDisabled", "live"])
      assert.deepStrictEqual((yield* tenants.disable(one.tenantId)).disabledAt, DateTime.makeUnsafe(0))
      // A key of a tenant that is locked out can be revoked and made, but not used.
      assert.strictEqual(yield* stateOf((yield* newKey(one.tenantId)).secret), "TenantDisabled")
      yield* tenants.revokeKey(one.tenantId, second.apiKeyId)

      assert.isNull((yield* tenants.enable(one.tenantId)).disabledAt)
      assert.deepStrictEqual(yield* states, ["live", "KeyInvalid", "live"])
    }).pipe(Effect.provide(Identity))
  )

  it.effect("a tenant that does not exist is neither disabled nor enabled", () =>
    Effect.gen(function* () {
      const tenants = yield* Tenants
      const unknown = "tn_01ARZ3NDEKTSV4RRFFQ69G5FAV" as TenantId
      assert.strictEqual((yield* Effect.flip(tenants.disable(unknown)))._tag, "NotFound")
      assert.strictEqual((yield* Effect.flip(tenants.enable(unknown)))._tag, "NotFound")
    }).pipe(Effect.provide(Identity))
  )
})
