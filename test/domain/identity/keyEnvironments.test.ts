/** Keys of production and of a sandbox: docs/decisions/0203-environments-of-keys.md. */
import { assert, it } from "@effect/vitest"
import { DateTime, Effect, Layer, Option, Redacted } from "effect"
import { AccessChanges } from "#domain/identity/AccessChanges.ts"
import { ApiKeys } from "#domain/identity/ApiKeys.ts"
import { type Environment, KeyEnvironment } from "#domain/identity/KeyEnvironment.ts"
import { Tenants } from "#domain/identity/Tenants.ts"
import { TenantStore } from "#domain/identity/TenantStore.ts"
import { KeyHashConfig } from "#layers/identity/KeyHashConfig.ts"
import { KeyHashLive } from "#layers/identity/KeyHashLive.ts"
import { TestStores } from "#test/support/database.ts"

const hashing = KeyHashLive.pipe(
  Layer.provide(Layer.succeed(KeyHashConfig, { pepper: Redacted.make("pepper of this test") }))
)

/** A deployment over the same database and pepper as the others, as after a copy. */
const inDeployment = <A, E, R>(environment: Environment, effect: Effect.Effect<A, E, R>) =>
  Effect.provide(
    effect,
    Layer.merge(Tenants.layer, ApiKeys.layer).pipe(
      Layer.provide([hashing, AccessChanges.layer]),
      Layer.provide(Layer.succeed(KeyEnvironment, environment))
    )
  )

const newTenant = Effect.flatMap(Tenants, (tenants) =>
  tenants.create({ name: "Northwind", email: "ops@northwind.test", entitlements: [] })
)

const newKey = Effect.gen(function* () {
  const { tenantId } = yield* newTenant
  const { key, secret } = yield* (yield* Tenants).createKey(tenantId, { name: "k", scopes: [], expiresAt: null })
  return { tenantId, apiKeyId: key.apiKeyId, secret: Redacted.value(secret), preview: key.preview }
})

const use = (secret: string) => Effect.flatMap(ApiKeys, ({ authenticate }) => authenticate(secret))

it.layer(TestStores, { excludeTestServices: true })("environments of keys", (it) => {
  for (const [own, other, prefix, message] of [
    ["live", "test", "bk_live_", "This is a key of production (bk_live_...), and this deployment is a sandbox"],
    ["test", "live", "bk_test_", "This is a key of a sandbox (bk_test_...), and this deployment is production"]
  ] as const) {
    it.effect(
      `a key of ${own} begins with ${prefix}, works there and is refused with the reason in ${other}, even over a copied database`,
      () =>
        Effect.gen(function* () {
          const { preview, secret, tenantId } = yield* inDeployment(own, newKey)
          assert.match(secret, new RegExp(`^${prefix}[A-Za-z0-9_-]{43}$`))
          assert.isTrue(preview.startsWith(prefix))
          assert.strictEqual((yield* inDeployment(own, use(secret))).tenantId, tenantId)
          const refused = yield* Effect.flip(inDeployment(other, use(secret)))
          assert.include(refused.message, message)
          const unknown = yield* Effect.flip(inDeployment(other, use(`${prefix}unknown`)))
          assert.include(unknown.message, message)
        })
    )
  }

  it.effect("the last use of a key is noted, and an earlier one does not take it back", () =>
    Effect.gen(function* () {
      const store = yield* TenantStore
      const { apiKeyId, secret, tenantId } = yield* inDeployment("live", newKey)
      const lastUse = Effect.map(store.listKeys(tenantId), ([key]) => key!.lastUsedAt)
      assert.isNull(yield* lastUse)
      const before = yield* DateTime.now
      // What a process noted is written when it ends, at the latest.
      yield* inDeployment("live", use(secret))
      const used = yield* lastUse
      assert.isNotNull(used)
      assert.isTrue(DateTime.isGreaterThanOrEqualTo(used!, before))
      yield* store.noteUses(new Map([[apiKeyId, DateTime.subtract(before, { days: 1 })]]))
      assert.deepStrictEqual(yield* lastUse, used)
      assert.isTrue(Option.isSome(yield* store.findTenant(tenantId)))
    })
  )
})
