/** Refused calls of procedures are listed for the tenant whose key they had, as refused requests of routes are. */
import { assert, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { WebSocket } from "ws"
import { Tenants } from "#domain/identity/Tenants.ts"
import { newOwner, newTenant } from "#test/api/support/actors.ts"
import { Api, unlimited } from "#test/api/support/Api.ts"
import { Streams } from "#test/api/support/StreamingApi.ts"
import { signedIn } from "#test/api/support/signedIn.ts"
import { executionsApi } from "#test/rpc/support/ExecutionsApi.ts"

type Tenant = Effect.Success<ReturnType<typeof newTenant>>

const operationId = "op_01JQ8ZP3T5V7X9Z1B3D5F7H9K1"
const getPath = "/v1/rpc/v2.executions.get"
const streamPath = `/v1/executions/${operationId}/stream`

/** Makes a key without the scope of readers, which new keys have. */
const keyWithoutScopes = Effect.fnUntraced(function* ({ tenantId }: Tenant) {
  const { key, secret } = yield* (yield* Tenants).createKey(tenantId, { name: "old", scopes: [], expiresAt: null })
  const sql = yield* SqlClient.SqlClient
  yield* sql`UPDATE api_keys SET scopes = '{}' WHERE api_key_id = ${key.apiKeyId}`
  return { apiKeyId: key.apiKeyId, secret: Redacted.value(secret) }
})

const get = Effect.fnUntraced(function* (headers: Readonly<Record<string, string>>) {
  return yield* (yield* Api).call("POST", getPath, { headers, body: { json: { operationId } } })
})

/** Oldest first. */
const listed = Effect.fnUntraced(function* (secret: string) {
  const { json, status, text } = yield* (yield* Api).call("GET", "/v2/requests", { key: secret })
  assert.strictEqual(status, 200, text)
  return (json.data.requests as ReadonlyArray<any>)
    .map(({ apiKeyId, code, method, route, status: of }) => [method, route, of, code, apiKeyId])
    .toReversed()
})

layer(executionsApi(), { excludeTestServices: true })("refused calls of procedures", (it) => {
  it.effect("are listed with the key, whichever header had it", () =>
    Effect.gen(function* () {
      const { apiKeyId, key } = yield* newTenant()
      for (const headers of [{ "x-api-key": key }, { authorization: `Bearer ${key}` }])
        assert.strictEqual((yield* get(headers)).status, 404)
      const expected = ["POST", getPath, 404, "API_006", apiKeyId]
      assert.deepStrictEqual(yield* listed(key), [expected, expected])
    })
  )

  it.effect("are listed where the key lacks the scope, on procedures and on streams of events", () =>
    Effect.gen(function* () {
      const tenant = yield* newTenant()
      const { apiKeyId, secret } = yield* keyWithoutScopes(tenant)
      const headers = { "x-api-key": secret }
      assert.strictEqual((yield* get(headers)).status, 403)
      assert.strictEqual((yield* (yield* Api).call("GET", streamPath, { headers })).status, 403)
      assert.deepStrictEqual(yield* listed(tenant.key), [
        ["POST", getPath, 403, "API_104", apiKeyId],
        ["GET", "/v1/executions/{operationId}/stream", 403, "API_104", apiKeyId]
      ])
    })
  )

  it.effect("are listed over Effect's RPC too, each call of a request by itself, and over a socket", () =>
    Effect.gen(function* () {
      const { apiKeyId, key } = yield* newTenant()
      const { call } = yield* Api
      const request = (id: string, payload: object) =>
        JSON.stringify({ _tag: "Request", id, tag: "v2.executions.get", payload, headers: [] })
      const unknown = { operationId }
      const { headers } = yield* call("POST", "/v1/rpc", {
        key,
        headers: { "content-type": "application/ndjson" },
        text: [request("1", unknown), request("2", unknown), request("3", { operationId: 7 })]
          .map((line) => `${line}\n`)
          .join("")
      })
      const address = `${new URL((yield* Streams).url("x")).origin.replace("http", "ws")}/v1/rpc`
      yield* Effect.callback<void>((resume) => {
        const socket = new WebSocket(address, { headers: { "x-api-key": key } })
        socket.on("open", () => socket.send(request("4", unknown)))
        socket.on("message", () => {
          socket.terminate()
          resume(Effect.void)
        })
      })
      const notFound = ["RPC", getPath, 404, "API_006", apiKeyId]
      assert.sameDeepMembers(yield* listed(key), [
        notFound,
        notFound,
        ["RPC", getPath, 400, "API_400", apiKeyId],
        notFound
      ])
      const { json } = yield* call("GET", "/v2/requests?limit=200", { key })
      const ids = json.data.requests.map(({ requestId }: any) => requestId)
      assert.lengthOf(
        ids.filter((id: string) => id === headers.get("x-request-id")),
        3
      )
      for (const { message } of json.data.requests) assert.isAbove(message.length, 10)
      const pages: Array<unknown> = []
      let cursor = ""
      do {
        const page = (yield* call("GET", `/v2/requests?limit=1${cursor}`, { key })).json
        pages.push(...page.data.requests)
        cursor = page.nextCursor === null ? "" : `&cursor=${page.nextCursor}`
      } while (cursor !== "")
      assert.deepStrictEqual(pages, json.data.requests)
    })
  )

  it.effect("are nobody's without an accepted key, and of a session", () =>
    Effect.gen(function* () {
      const { key, tenantId } = yield* newTenant()
      const { token } = yield* signedIn(newOwner(), tenantId)
      assert.strictEqual((yield* get({})).status, 401)
      assert.strictEqual((yield* get({ "x-api-key": "bk_test_unknown" })).status, 401)
      assert.strictEqual((yield* get({ authorization: `Bearer ${token}` })).status, 404)
      assert.isEmpty(yield* listed(key))
    })
  )
})

layer(executionsApi({}, { ...unlimited, burst: 1 }), { excludeTestServices: true })("calls above the limit", (it) => {
  it.effect("are listed too", () =>
    Effect.gen(function* () {
      const { apiKeyId, key } = yield* newTenant()
      for (const status of [404, 429]) assert.strictEqual((yield* get({ "x-api-key": key })).status, status)
      assert.deepStrictEqual((yield* listed(key)).at(-1), ["POST", getPath, 429, "API_004", apiKeyId])
    })
  )
})
