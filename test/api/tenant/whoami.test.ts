/**
 * `whoami` is answered from what was prepared for the caller: it must be the caller's own, and no older than the key.
 */
import { assert, layer } from "@effect/vitest"
import { Effect, Metric, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { KeyInvalid, PermissionDenied } from "#domain/errors/Errors.ts"
import { Tenants } from "#domain/identity/Tenants.ts"
import { newTenant } from "#test/api/support/actors.ts"
import { Api, ApiLive } from "#test/api/support/Api.ts"
import { assertData, assertError, assertTraced } from "#test/api/support/assertions.ts"
import { MovableClock } from "#test/support/MovableClock.ts"

/** Time for which a process may cache a key; docs/decisions/0004-api-keys.md. */
const rememberedMs = 5_000

const whoami = (key: string) => Effect.flatMap(Api, ({ call }) => call("GET", "/v2/whoami", { key }))

layer(ApiLive, { excludeTestServices: true })("whoami", (it) => {
  it.effect("answers each of many concurrent callers with its own data, whether or not its key is cached", () =>
    Effect.gen(function* () {
      const callers = yield* Effect.forEach(Array.from({ length: 8 }), () => newTenant())
      for (let round = 0; round < 2; round += 1) {
        const answers = yield* Effect.forEach(callers, ({ key }) => whoami(key), { concurrency: "unbounded" })
        assert.deepStrictEqual(
          answers.map(({ json }) => json.data.apiKeyId),
          callers.map(({ apiKeyId }) => apiKeyId)
        )
      }
    })
  )

  it.effect("follows a change of the key once the key is forgotten, and never later", () =>
    Effect.gen(function* () {
      const { advance } = yield* MovableClock
      const { call } = yield* Api
      const sql = yield* SqlClient.SqlClient
      const { apiKeyId, key } = yield* newTenant()
      assert.include((yield* whoami(key)).json.data.scopes, "strategies:write")
      yield* sql`UPDATE api_keys SET scopes = array_remove(scopes, 'strategies:write') WHERE api_key_id = ${apiKeyId}`
      advance(rememberedMs)
      assert.notInclude((yield* whoami(key)).json.data.scopes, "strategies:write")
      assertError(yield* call("POST", "/v2/strategies", { key, body: {} }), PermissionDenied)
    })
  )

  it.effect("refuses a key that was revoked five seconds ago, whatever was prepared for it", () =>
    Effect.gen(function* () {
      const { advance } = yield* MovableClock
      const tenants = yield* Tenants
      const { tenantId } = yield* newTenant()
      const { key, secret } = yield* tenants.createKey(tenantId, { name: "gone", scopes: [], expiresAt: null })
      assertData(yield* whoami(Redacted.value(secret)), 200, ["tenantName", "tenantEmail", "apiKeyId", "scopes"])
      yield* tenants.revokeKey(tenantId, key.apiKeyId)
      advance(rememberedMs)
      assertError(yield* whoami(Redacted.value(secret)), KeyInvalid)
    })
  )

  it.effect("contains ids of its own and a limit that counts down in every answer, though the body is the same", () =>
    Effect.gen(function* () {
      const { key } = yield* newTenant()
      // More than one block of random ids.
      const answers = yield* Effect.forEach(Array.from({ length: 300 }), () => whoami(key))
      answers.forEach(assertTraced)
      assert.strictEqual(new Set(answers.map(({ text }) => text)).size, 1)
      const distinct = (name: string) => new Set(answers.map(({ headers }) => headers.get(name))).size
      assert.strictEqual(distinct("x-request-id"), 300)
      assert.strictEqual(distinct("x-correlation-id"), 300)
      assert.strictEqual(distinct("x-ratelimit-remaining"), 300)
      for (const { headers, text } of answers) {
        assert.strictEqual(headers.get("content-type"), "application/json")
        assert.strictEqual(headers.get("content-length"), String(new TextEncoder().encode(text).length))
      }
    })
  )

  it.effect("is counted and timed by its route", () =>
    Effect.gen(function* () {
      const { key } = yield* newTenant()
      const count = Effect.map(Metric.snapshot, (all) => {
        const found = all.find(
          ({ attributes, id }) =>
            id === "http.server.request.duration" &&
            attributes?.["http.route"] === "/v2/whoami" &&
            attributes["http.response.status_code"] === "200"
        )
        assert.strictEqual(found?.attributes?.["http.request.method"], "GET")
        assert.strictEqual(found?.attributes?.["unit"], "s")
        return (found!.state as { readonly count: number }).count
      })
      yield* whoami(key)
      const before = yield* count
      yield* whoami(key)
      assert.strictEqual(yield* count, before + 1)
    })
  )
})
