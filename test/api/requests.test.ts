/** A tenant's own refused requests: docs/decisions/0202-refused-requests.md. */
import { assert, layer } from "@effect/vitest"
import { DateTime, Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { CursorInvalid, ValidationFailed } from "#domain/errors/Errors.ts"
import { RefusedRequests } from "#domain/request/RefusedRequests.ts"
import { RefusedRequestStore } from "#domain/request/RefusedRequestStore.ts"
import { Tenants } from "#domain/identity/Tenants.ts"
import { newTenant, readOnlyKey, strategyBody } from "#test/api/support/actors.ts"
import { Api, ApiLive } from "#test/api/support/Api.ts"
import { assertError } from "#test/api/support/assertions.ts"

const requestsOf = Effect.fnUntraced(function* (key: string, query = "") {
  const answer = yield* (yield* Api).call("GET", `/v2/requests${query}`, { key })
  assert.strictEqual(answer.status, 200, answer.text)
  return answer.json.data.requests as ReadonlyArray<any>
})

const missing = "/v2/strategies/01JQ8ZKX4V6T3M9N2C5B7D8F0G"

layer(ApiLive, { excludeTestServices: true })("refused requests", (it) => {
  it.effect("are listed with route, status, code, message, ids, key and duration; others are not", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const { apiKeyId, key } = yield* newTenant()
      yield* call("GET", "/v2/whoami", { key })
      const refused = yield* call("GET", missing, { key })
      const [request, ...others] = yield* requestsOf(key)
      assert.isEmpty(others)
      const { at, durationMs, ...fields } = request
      assert.isAtLeast(durationMs, 0)
      assert.isTrue(Number.isFinite(Date.parse(at)))
      assert.deepStrictEqual(fields, {
        requestId: refused.headers.get("x-request-id"),
        correlationId: refused.headers.get("x-correlation-id"),
        method: "GET",
        route: "/v2/strategies/{strategyId}",
        status: 404,
        code: refused.json.error.code,
        message: refused.json.error.message,
        apiKeyId
      })
    })
  )

  it.effect("are those of execution streams too, whichever header had the key", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const { apiKeyId, key } = yield* newTenant()
      const path = "/v1/executions/op_01JQ8ZKX4V6T3M9N2C5B7D8F0G/stream"
      yield* call("GET", path, { key })
      yield* call("GET", path, { headers: { authorization: `Bearer ${key}` } })
      const listed = (yield* requestsOf(key)).map((request) => [request.route, request.status, request.apiKeyId])
      const expected = ["/v1/executions/{operationId}/stream", 404, apiKeyId]
      assert.deepStrictEqual(listed, [expected, expected])
    })
  )

  it.effect("are the tenant's alone, and none of a key that is unknown or lacks nothing but life", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const [ours, theirs] = [yield* newTenant(), yield* newTenant()]
      yield* call("GET", missing, { key: theirs.key })
      yield* call("GET", missing, { key: "bk_live_unknown" })
      const expiresAt = DateTime.subtract(yield* DateTime.now, { seconds: 1 })
      const { secret } = yield* (yield* Tenants).createKey(ours.tenantId, { name: "old", scopes: [], expiresAt })
      yield* call("GET", missing, { key: Redacted.value(secret) })
      assert.isEmpty(yield* requestsOf(ours.key))
      assert.lengthOf(yield* requestsOf(theirs.key), 1)
    })
  )

  it.effect("never hold what was sent: no body, no query, no header, no key", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const sql = yield* SqlClient.SqlClient
      const { key, tenantId } = yield* newTenant()
      const word = "hunter2-secret"
      yield* call("POST", "/v2/strategies", { key, body: { ...strategyBody, [word]: word, name: 5 } })
      yield* call("GET", `/v2/strategies/${word}?${word}=${word}`, {
        key,
        headers: { "x-note": word }
      })
      yield* call("GET", `/v2/requests?cursor=${key}`, { key })
      assert.lengthOf(yield* requestsOf(key), 3)
      const rows = yield* sql`SELECT to_jsonb(r) AS row FROM refused_requests r WHERE tenant_id = ${tenantId}`
      assert.notInclude(JSON.stringify(rows), word)
      assert.notInclude(JSON.stringify(rows), key.slice(0, 20))
    })
  )

  it.effect("are narrowed by code, key and time, and paged without gaps", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const actor = yield* newTenant()
      const reader = yield* readOnlyKey(actor)
      for (let n = 0; n < 5; n++) yield* call("GET", missing, { key: actor.key })
      yield* call("POST", "/v2/strategies", { key: reader, body: {} })
      const [denied] = yield* requestsOf(actor.key, "?code=API_104")
      assert.strictEqual(denied.status, 403)
      assert.lengthOf(yield* requestsOf(actor.key, `?apiKeyId=${actor.apiKeyId}`), 5)
      assert.lengthOf(yield* requestsOf(actor.key, `?apiKeyId=${denied.apiKeyId}&code=API_006`), 0)
      assert.lengthOf(yield* requestsOf(actor.key, "?since=2100-01-01T00:00:00.000Z"), 0)
      const all = (yield* requestsOf(actor.key)).map(({ requestId }) => requestId)
      const seen: Array<string> = []
      let cursor: string | null = null
      do {
        const { json }: any = yield* call("GET", `/v2/requests?limit=4${cursor === null ? "" : `&cursor=${cursor}`}`, {
          key: actor.key
        })
        seen.push(...json.data.requests.map(({ requestId }: any) => requestId))
        cursor = json.nextCursor
      } while (cursor !== null)
      assert.deepStrictEqual(seen, all)
      assert.lengthOf(new Set(seen), 6)
    })
  )

  it.effect("filters that are none are refused", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const { key } = yield* newTenant()
      assertError(yield* call("GET", "/v2/requests?code=x%20y", { key }), ValidationFailed, "code: ")
      assertError(yield* call("GET", "/v2/requests?apiKeyId=pf_1", { key }), ValidationFailed, "apiKeyId: ")
      assertError(yield* call("GET", "/v2/requests?since=yesterday", { key }), ValidationFailed, "since: ")
      assertError(yield* call("GET", "/v2/requests?cursor=x", { key }), CursorInvalid)
    })
  )

  it.effect("a burst of hundreds is kept whole, each once", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const { key } = yield* newTenant()
      const answers = yield* Effect.forEach(
        Array.from({ length: 600 }, (_, index) => index),
        () => call("GET", missing, { key }),
        { concurrency: 100 }
      )
      const sent = answers.map(({ headers }) => headers.get("x-request-id")!)
      const found: Array<string> = []
      let cursor: string | null = null
      do {
        const { json }: any = yield* call(
          "GET",
          `/v2/requests?limit=200${cursor === null ? "" : `&cursor=${cursor}`}`,
          { key }
        )
        found.push(...json.data.requests.map(({ requestId }: any) => requestId))
        cursor = json.nextCursor
      } while (cursor !== null)
      assert.deepStrictEqual(found.toSorted(), sent.toSorted())
    })
  )

  it.effect("older than seven days are not shown, and are removed", () =>
    Effect.gen(function* () {
      const { apiKeyId, key, tenantId } = yield* newTenant()
      const store = yield* RefusedRequestStore
      const now = yield* DateTime.now
      const aged = (days: number, requestId: string) => ({
        tenantId,
        apiKeyId,
        at: DateTime.subtract(now, { days, seconds: 1 }),
        requestId: requestId.repeat(32),
        correlationId: requestId.repeat(32),
        method: "GET",
        route: "/v2/whoami",
        status: 500,
        code: null,
        message: null,
        milliseconds: 1
      })
      yield* store.insert([aged(6, "a"), aged(7, "b"), aged(8, "c")])
      const shown = yield* requestsOf(key)
      assert.deepStrictEqual(
        shown.map(({ requestId }) => requestId[0]),
        ["a"]
      )
      const before = DateTime.subtract(now, { days: 7 })
      assert.strictEqual(yield* store.prune(before, 1), 1)
      assert.strictEqual(yield* store.prune(before, 10), 1)
      assert.strictEqual(yield* store.prune(before, 10), 0)
    })
  )

  it.effect("a key in a message is not kept", () =>
    Effect.gen(function* () {
      const { apiKeyId, key, tenantId } = yield* newTenant()
      const { note } = yield* RefusedRequests
      note({
        tenantId,
        apiKeyId,
        at: yield* DateTime.now,
        requestId: "d".repeat(32),
        correlationId: "d".repeat(32),
        method: "GET",
        route: "/v2/whoami",
        status: 400,
        code: "API_400",
        message: `You sent ${key}`,
        milliseconds: 1
      })
      assert.strictEqual((yield* requestsOf(key))[0].message, "You sent bk_...")
    })
  )
})
