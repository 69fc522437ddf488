/** How bodies are encoded, and what caches may keep of answers: the same on every wire. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { gzipSync } from "node:zlib"
import { newOwner, newTenant } from "#test/api/support/actors.ts"
import { Api } from "#test/api/support/Api.ts"
import { signedIn } from "#test/api/support/signedIn.ts"
import { accepted, Streams } from "#test/api/support/StreamingApi.ts"
import { executionsApi } from "#test/rpc/support/ExecutionsApi.ts"

const posts = ["/v2/strategies", "/v1/rpc/v2.executions.list", "/v1/rpc", "/v1/admin/tenants", "/mcp"]

layer(executionsApi(), { excludeTestServices: true })("a body", (it) => {
  it.effect("that is compressed or in another charset is 415 and names the header, on every wire", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const { key } = yield* newTenant()
      for (const path of posts)
        for (const [headers, named] of [
          [{ "content-encoding": "gzip" }, "content-encoding"],
          [{ "content-encoding": "br" }, "content-encoding"],
          [{ "content-encoding": "identity, gzip" }, "content-encoding"],
          [{ "content-type": "application/json; charset=utf-16" }, "content-type"],
          [{ "content-type": 'application/json;charset="ISO-8859-1"' }, "content-type"],
          [{ "content-type": "application/json; Charset=windows-1252" }, "content-type"]
        ] as const) {
          const text = gzipSync("{}").toString("latin1")
          const { json, status } = yield* call("POST", path, { key, headers: headers as Record<string, string>, text })
          const error = json.error.json ?? json.error
          assert.deepStrictEqual([status, error.code], [415, "API_400"], path)
          assert.match(error.details[0], new RegExp(`^${named}: `, "u"))
        }
    })
  )

  it.effect("as it is, in UTF-8 by whichever name, is read", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const { key } = yield* newTenant()
      for (const headers of [
        { "content-encoding": "identity" },
        { "content-type": "application/json; charset=UTF-8" },
        { "content-type": 'application/json;charset="utf-8"' },
        { "content-type": "application/json; charset=utf8" }
      ])
        assert.strictEqual(
          (yield* call("POST", "/v1/rpc/v2.executions.list", {
            key,
            headers: headers as Record<string, string>,
            text: "{}"
          })).status,
          200
        )
    })
  )
})

layer(executionsApi(), { excludeTestServices: true })("an answer", (it) => {
  it.effect("to a key or a session is private and not stored, whatever it says, and one for everybody is not", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const { key, operationId } = yield* accepted
      const { token } = yield* signedIn(newOwner())
      const held = (answer: { readonly headers: Headers }) => answer.headers.get("cache-control")
      const own = "private, no-store"
      const native = `${JSON.stringify({ _tag: "Request", id: "1", tag: "v2.executions.list", payload: {}, headers: [] })}\n`
      assert.strictEqual(held(yield* call("GET", "/v2/whoami", { key })), own)
      assert.strictEqual(held(yield* call("GET", "/v2/portfolios/pf_x", { key })), own)
      assert.strictEqual(held(yield* call("GET", "/v2/nope", { key })), own)
      assert.strictEqual(held(yield* call("GET", "/v2/whoami", { key: "bk_test_none" })), own)
      assert.strictEqual(held(yield* call("GET", "/v1/admin/tenants", { headers: { authorization: "Bearer x" } })), own)
      assert.strictEqual(held(yield* call("GET", "/v1/rpc/v2.executions.list", { key })), own)
      for (const headers of [{ authorization: `Bearer ${token}` }, { cookie: `__Host-ballast_session=${token}` }])
        assert.strictEqual(
          held(
            yield* call("POST", "/v1/rpc/identity.members", { headers: headers as Record<string, string>, body: {} })
          ),
          own
        )
      const ndjson = { "content-type": "application/x-ndjson" }
      assert.strictEqual(held(yield* call("POST", "/v1/rpc", { key, text: native, headers: ndjson })), own)
      assert.strictEqual(held(yield* call("POST", "/mcp", { key, body: {} })), own)
      const source = yield* (yield* Streams).open(operationId, { key })
      assert.strictEqual(source.headers.get("cache-control"), `${own}, no-transform`)
      assert.isNull(held(yield* call("GET", "/v2/scopes")))
      assert.strictEqual(held(yield* call("GET", "/v2/docs", { key })), "public, max-age=300")
    })
  )
})
