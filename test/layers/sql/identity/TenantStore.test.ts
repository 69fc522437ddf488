import { assert } from "@effect/vitest"
import { Effect, Exit, Option } from "effect"
import { SqlClient } from "effect/sql"
import type { ApiKey } from "#domain/identity/Tenant.ts"
import { TenantStore } from "#domain/identity/TenantStore.ts"
import { type ApiKeyId, makeApiKeyId, makeTenantId, type TenantId } from "#domain/values/Ids.ts"
import { eachDatabase } from "#test/support/database.ts"
import { after, insertTenant, noon } from "#test/layers/sql/fixtures.ts"

const newKey = (tenantId: TenantId, apiKeyId: ApiKeyId, changes: Partial<ApiKey> = {}): ApiKey => ({
  apiKeyId,
  tenantId,
  name: "server",
  preview: "bk_live_ab12",
  scopes: ["strategies:read", "portfolios:write"],
  createdAt: noon,
  expiresAt: null,
  revokedAt: null,
  lastUsedAt: null,
  replacedBy: null,
  environment: "live",
  ...changes
})

const hashOf = (text: string) => new TextEncoder().encode(text.padEnd(32, "."))
const stored = (text: string) => ({ hash: hashOf(text), pepper: "one" })
const hashesOf = (text: string) => ({ current: hashOf(text), other: null })

eachDatabase("TenantStore", (it) => {
  it.effect("keeps tenants, with entitlements and without", () =>
    Effect.gen(function* () {
      const store = yield* TenantStore
      const tenantId = yield* makeTenantId
      const tenant = {
        tenantId,
        name: "Acme",
        email: "ops@acme.test",
        entitlements: ["svm_b2b_api"],
        createdAt: noon,
        disabledAt: after(1)
      }
      yield* store.insertTenant(tenant)
      assert.deepStrictEqual(yield* store.findTenant(tenantId), Option.some(tenant))
      const plain = yield* insertTenant
      assert.deepStrictEqual(Option.getOrThrow(yield* store.findTenant(plain)).entitlements, [])
      assert.isTrue(Option.isNone(yield* store.findTenant(yield* makeTenantId)))
      const listed = (yield* store.listTenants).map((each) => each.tenantId)
      assert.includeMembers(listed, [tenantId, plain])
    })
  )

  it.effect("disables and enables a tenant; disabling again keeps the first time", () =>
    Effect.gen(function* () {
      const store = yield* TenantStore
      const tenantId = yield* insertTenant
      const tenant = Option.getOrThrow(yield* store.findTenant(tenantId))
      const other = yield* insertTenant
      const disabled = Option.some({ ...tenant, disabledAt: after(1) })
      assert.deepStrictEqual(yield* store.setDisabled(tenantId, after(1)), disabled)
      assert.deepStrictEqual(yield* store.setDisabled(tenantId, after(2)), disabled)
      assert.deepStrictEqual(yield* store.findTenant(tenantId), disabled)
      assert.isNull(Option.getOrThrow(yield* store.findTenant(other)).disabledAt)
      for (let time = 0; time < 2; time++) {
        assert.deepStrictEqual(yield* store.setDisabled(tenantId, null), Option.some(tenant))
      }
      assert.isTrue(Option.isNone(yield* store.setDisabled(yield* makeTenantId, after(1))))
    })
  )

  it.effect("finds a key and its tenant by hash, revoked and expired ones included", () =>
    Effect.gen(function* () {
      const store = yield* TenantStore
      const tenantId = yield* insertTenant
      const tenant = Option.getOrThrow(yield* store.findTenant(tenantId))
      const key = newKey(tenantId, yield* makeApiKeyId, { expiresAt: after(-1), revokedAt: after(-2) })
      yield* store.insertKey(key, stored(key.apiKeyId))
      assert.deepStrictEqual(
        yield* store.findKeyByHash(hashesOf(key.apiKeyId)),
        Option.some({ key, tenant, pepper: "one" })
      )
      assert.isTrue(Option.isNone(yield* store.findKeyByHash(hashesOf("unknown"))))
    })
  )

  it.effect("grants nothing for a scope that it does not know", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const store = yield* TenantStore
      const key = newKey(yield* insertTenant, yield* makeApiKeyId)
      yield* store.insertKey(key, stored(key.apiKeyId))
      yield* sql`UPDATE api_keys SET scopes = '{everything,strategies:read}' WHERE api_key_id = ${key.apiKeyId}`
      const found = Option.getOrThrow(yield* store.findKeyByHash(hashesOf(key.apiKeyId)))
      assert.deepStrictEqual(found.key.scopes, ["strategies:read"])
    })
  )

  it.effect("refuses a second key of the same hash", () =>
    Effect.gen(function* () {
      const store = yield* TenantStore
      const tenantId = yield* insertTenant
      const first = newKey(tenantId, yield* makeApiKeyId)
      yield* store.insertKey(first, stored(first.apiKeyId))
      const second = yield* Effect.exit(store.insertKey(newKey(tenantId, yield* makeApiKeyId), stored(first.apiKeyId)))
      assert.isTrue(Exit.hasDies(second))
    })
  )

  it.effect("revokes once, only for the key's tenant, and lists keys newest first", () =>
    Effect.gen(function* () {
      const store = yield* TenantStore
      const tenantId = yield* insertTenant
      const stranger = yield* insertTenant
      const older = newKey(tenantId, yield* makeApiKeyId)
      const newer = newKey(tenantId, yield* makeApiKeyId, { createdAt: after(1), scopes: [] })
      for (const key of [older, newer]) yield* store.insertKey(key, stored(key.apiKeyId))
      assert.isFalse(yield* store.revokeKey(stranger, older.apiKeyId, after(1)))
      assert.isTrue(yield* store.revokeKey(tenantId, older.apiKeyId, after(2)))
      assert.isTrue(yield* store.revokeKey(tenantId, older.apiKeyId, after(3)))
      assert.deepStrictEqual(yield* store.listKeys(tenantId), [
        { ...newer, lastUsedAt: null },
        { ...older, revokedAt: after(2), lastUsedAt: null }
      ])
      assert.deepStrictEqual(yield* store.listKeys(stranger), [])
    })
  )

  it.effect("finds a key by its hash under either pepper, and stores it under the one that it is given", () =>
    Effect.gen(function* () {
      const store = yield* TenantStore
      const tenantId = yield* insertTenant
      const key = newKey(tenantId, yield* makeApiKeyId)
      const [before, now] = [hashOf(`${key.apiKeyId} a`), hashOf(`${key.apiKeyId} b`)]
      yield* store.insertKey(key, { hash: before, pepper: "one" })
      const both = { current: now, other: before }
      assert.strictEqual(Option.getOrThrow(yield* store.findKeyByHash(both)).pepper, "one")
      yield* store.rehashKey(key.apiKeyId, { hash: now, pepper: "two" })
      const found = Option.getOrThrow(yield* store.findKeyByHash({ current: now, other: null }))
      assert.strictEqual(found.pepper, "two")
      assert.deepStrictEqual(found.key, key)
      assert.isTrue(Option.isNone(yield* store.findKeyByHash({ current: before, other: null })))
    })
  )

  it.effect("notes when keys were used, and never goes back", () =>
    Effect.gen(function* () {
      const store = yield* TenantStore
      const tenantId = yield* insertTenant
      const key = newKey(tenantId, yield* makeApiKeyId)
      yield* store.insertKey(key, stored(key.apiKeyId))
      yield* store.noteUses(new Map([[key.apiKeyId, after(2)]]))
      yield* store.noteUses(new Map([[key.apiKeyId, after(1)]]))
      assert.deepStrictEqual((yield* store.listKeys(tenantId))[0]!.lastUsedAt, after(2))
    })
  )

  it.effect("replaces a key once, at one time with the new one, and never lengthens its life", () =>
    Effect.gen(function* () {
      const store = yield* TenantStore
      const tenantId = yield* insertTenant
      const old = newKey(tenantId, yield* makeApiKeyId)
      yield* store.insertKey(old, stored(old.apiKeyId))
      const next = newKey(tenantId, yield* makeApiKeyId, { createdAt: after(1) })
      const rotation = { apiKeyId: old.apiKeyId, endsAt: after(5), next, hash: stored(next.apiKeyId) }
      assert.isTrue(yield* store.replaceKey(rotation))
      const third = newKey(tenantId, yield* makeApiKeyId)
      const again = { ...rotation, next: third, hash: stored(third.apiKeyId) }
      assert.isFalse(yield* store.replaceKey(again))
      const replaced = { ...old, expiresAt: after(5), replacedBy: next.apiKeyId }
      assert.deepStrictEqual(yield* store.listKeys(tenantId), [next, replaced])
      const short = newKey(yield* insertTenant, yield* makeApiKeyId, { expiresAt: after(1) })
      yield* store.insertKey(short, stored(short.apiKeyId))
      assert.isFalse(yield* store.replaceKey({ ...again, apiKeyId: short.apiKeyId }), "another tenant's")
      const ofShort = newKey(short.tenantId, yield* makeApiKeyId, { createdAt: after(1) })
      const hash = stored(ofShort.apiKeyId)
      assert.isTrue(yield* store.replaceKey({ apiKeyId: short.apiKeyId, endsAt: after(5), next: ofShort, hash }))
      assert.deepStrictEqual((yield* store.listKeys(short.tenantId))[1]!.expiresAt, after(1))
    })
  )
})
