/** What a page of a tenant's origin may read of procedures: docs/decisions/0220-pages-of-tenants.md. */
import { assert, layer } from "@effect/vitest"
import { Effect, Redacted, Schedule } from "effect"
import { Tenants } from "#domain/identity/Tenants.ts"
import { TenantConfigurationStore } from "#domain/tenant/TenantConfigurationStore.ts"
import { makeSignInApi, origin, session, SignInApi } from "#test/rpc/support/SignInApi.ts"
import { patience } from "#test/support/suite/patience.ts"

const shop = "https://shop.example.com"
const native = JSON.stringify({ _tag: "Request", id: "1", tag: "identity.nonce", payload: null, headers: [] })

/** A tenant with a key, whose page is the shop or nobody's. */
const tenantOf = Effect.fnUntraced(function* (origins: ReadonlyArray<string>) {
  const tenants = yield* Tenants
  const { tenantId } = yield* tenants.create({ name: "Shop", email: "ops@shop.test", entitlements: [] })
  const { secret } = yield* tenants.createKey(tenantId, { name: "Page", scopes: [], expiresAt: null })
  if (origins.length > 0) yield* (yield* TenantConfigurationStore).patchPreferences(tenantId, { origins })
  return Redacted.value(secret)
})

layer(makeSignInApi(), { excludeTestServices: true })("procedures and pages of tenants", (it) => {
  it.effect("a page of a tenant's origin reads answers to that tenant's key on each wire, and no session's", () =>
    Effect.gen(function* () {
      const { handle } = yield* SignInApi
      const [own, foreign] = [yield* tenantOf([shop]), yield* tenantOf([])]
      const { token } = yield* session()

      const readable = (from: string, path: string, headers: Readonly<Record<string, string>>) =>
        Effect.promise(async () => {
          const body = path === "/v1/rpc" ? `${native}\n` : JSON.stringify({ json: {} })
          const type = path === "/v1/rpc" ? "application/ndjson" : "application/json"
          const response = await handle(
            new Request(`http://api.test${path}`, {
              method: "POST",
              headers: { "content-type": type, origin: from, ...headers },
              body
            })
          )
          await response.text()
          assert.isBelow(response.status, 400, path)
          const allowed = response.headers.get("access-control-allow-origin")
          const withCookies = response.headers.get("access-control-allow-credentials")
          assert.strictEqual(withCookies, from === origin ? "true" : null)
          return allowed === from
        })

      const public_ = "/v1/rpc/identity.nonce"
      yield* readable(shop, public_, { "x-api-key": own }).pipe(
        Effect.filterOrFail((isSo) => isSo),
        Effect.retry(Schedule.spaced("20 millis").pipe(Schedule.upTo({ duration: patience })))
      )
      for (const path of [public_, "/v1/rpc"]) {
        assert.isTrue(yield* readable(shop, path, {}), `${path} without a key`)
        assert.isTrue(yield* readable(shop, path, { "x-api-key": own }), path)
        assert.isTrue(yield* readable(shop, path, { authorization: `Bearer ${own}` }), path)
        assert.isFalse(yield* readable(shop, path, { "x-api-key": foreign }), path)
        assert.isFalse(yield* readable(shop, path, { authorization: `bearer ${foreign}` }), path)
        assert.isFalse(yield* readable(shop, path, { authorization: `Bearer ${token}` }), path)
      }
      const both = { "x-api-key": own, authorization: `Bearer ${token}` }
      const sessionPath = "/v1/rpc/identity.session"
      assert.isFalse(yield* readable(shop, sessionPath, { authorization: `Bearer ${token}` }))
      assert.isFalse(yield* readable(shop, sessionPath, both), "a key beside somebody's session")
      assert.isTrue(yield* readable(origin, sessionPath, { authorization: `Bearer ${token}` }))
    })
  )
})
