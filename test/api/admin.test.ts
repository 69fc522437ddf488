import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { KeyInvalid, KeyMissing, NotFound, TenantDisabled, ValidationFailed } from "#domain/errors/Errors.ts"
import { enrolledUser } from "#test/api/support/actors.ts"
import { adminToken, type Answer, Api, ApiLive, type Call } from "#test/api/support/Api.ts"
import { assertError, assertTraced, isoTime } from "#test/api/support/assertions.ts"
import { MovableClock } from "#test/support/MovableClock.ts"

const admin = (method: string, path: string, body?: unknown) =>
  Effect.flatMap(Api, ({ call }) =>
    call(method, `/v1/admin${path}`, { headers: { authorization: `Bearer ${adminToken}` }, body } satisfies Call)
  )

const assertV1 = (answer: Answer, status: number) => {
  assert.strictEqual(answer.status, status, answer.text)
  assert.deepStrictEqual(Object.keys(answer.json), [
    "success",
    status < 400 ? "data" : "error",
    "correlationId",
    "requestId",
    "timestamp"
  ])
  assert.strictEqual(answer.json.success, status < 400)
  assert.strictEqual(answer.json.correlationId, answer.headers.get("x-correlation-id"))
  assert.strictEqual(answer.json.requestId, answer.headers.get("x-request-id"))
  assert.match(answer.json.timestamp, isoTime)
  assertTraced(answer)
}

const assertErrorV1 = (
  answer: Answer,
  { contract }: typeof KeyMissing | typeof NotFound | typeof ValidationFailed | typeof KeyInvalid
) => {
  assertV1(answer, contract.status)
  assert.strictEqual(answer.json.error.code, contract.code)
}

const newTenant = admin("POST", "/tenants", {
  name: "Contoso",
  email: "ops@contoso.test",
  entitlements: ["svm_b2b_api"]
})

const routes = [
  ["POST", "/tenants"],
  ["GET", "/tenants"],
  ["PATCH", "/tenants/tn_01JQ8ZKX4V6T3M9N2C5B7D8F0G"],
  ["GET", "/runs"],
  ["GET", "/runs/op_01JQ8ZKX4V6T3M9N2C5B7D8F0G"],
  ["POST", "/runs/op_01JQ8ZKX4V6T3M9N2C5B7D8F0G/resume"],
  ["POST", "/runs/op_01JQ8ZKX4V6T3M9N2C5B7D8F0G/cancel"],
  ["POST", "/tenants/tn_01JQ8ZKX4V6T3M9N2C5B7D8F0G/keys"],
  ["GET", "/tenants/tn_01JQ8ZKX4V6T3M9N2C5B7D8F0G/keys"],
  ["DELETE", "/tenants/tn_01JQ8ZKX4V6T3M9N2C5B7D8F0G/keys/key_01JQ8ZKX4V6T3M9N2C5B7D8F0G"]
] as const

layer(ApiLive, { excludeTestServices: true })("admin", (it) => {
  for (const [method, path] of routes) {
    it.effect(`${method} ${path} needs the admin token`, () =>
      Effect.gen(function* () {
        const { call } = yield* Api
        const as = (authorization?: string) =>
          call(method, `/v1/admin${path}`, {
            headers: authorization === undefined ? {} : { authorization },
            ...(method === "POST" || method === "PATCH" ? { text: "{" } : {})
          })
        assertErrorV1(yield* as(), KeyMissing)
        for (const authorization of ["Bearer nope", `Bearer ${adminToken}x`, `Bearer ${adminToken.slice(0, -1)}`]) {
          assertErrorV1(yield* as(authorization), KeyInvalid)
        }
        assertErrorV1(yield* as(`Basic ${adminToken}`), KeyMissing)
      })
    )
  }

  it.effect("a tenant is created and listed", () =>
    Effect.gen(function* () {
      const created = yield* newTenant
      assertV1(created, 201)
      const { tenantId, createdAt, ...rest } = created.json.data
      assert.match(tenantId, /^tn_[0-7][0-9A-HJKMNP-TV-Z]{25}$/)
      assert.match(createdAt, isoTime)
      assert.deepStrictEqual(rest, {
        name: "Contoso",
        email: "ops@contoso.test",
        entitlements: ["svm_b2b_api"],
        disabledAt: null
      })
      const listed = yield* admin("GET", "/tenants")
      assertV1(listed, 200)
      assert.deepInclude(listed.json.data.tenants, created.json.data)
    })
  )

  it.effect("a tenant is disabled and enabled: its keys stop, and work again, its users' portfolios go on", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const clock = yield* MovableClock
      const { key, portfolioId, tenantId } = yield* enrolledUser()
      const path = `/tenants/${tenantId}`
      const disabled = yield* admin("PATCH", path, { disabled: true })
      assertV1(disabled, 200)
      assert.match(disabled.json.data.disabledAt, isoTime)
      assert.strictEqual(disabled.json.data.tenantId, tenantId)
      const again = yield* admin("PATCH", path, { disabled: true })
      assert.deepStrictEqual(again.json.data, disabled.json.data)
      clock.advance(5_001)
      assertError(yield* call("GET", "/v2/strategies", { key }), TenantDisabled)
      const sql = yield* SqlClient.SqlClient
      const [schedule] = yield* sql`SELECT status FROM schedules WHERE portfolio_id = ${portfolioId}`
      assert.deepStrictEqual(schedule, { status: "active" })

      const enabled = yield* admin("PATCH", path, { disabled: false })
      assertV1(enabled, 200)
      assert.isNull(enabled.json.data.disabledAt)
      clock.advance(5_001)
      assert.strictEqual((yield* call("GET", "/v2/strategies", { key })).status, 200)

      for (const body of [{}, { disabled: 1 }, { disabled: true, reason: "x" }]) {
        assertErrorV1(yield* admin("PATCH", path, body), ValidationFailed)
      }
      assertErrorV1(yield* admin("PATCH", "/tenants/x", { disabled: true }), ValidationFailed)
      assertErrorV1(yield* admin("PATCH", "/tenants/tn_01JQ8ZKX4V6T3M9N2C5B7D8F0G", { disabled: true }), NotFound)
    })
  )

  it.effect("a key is shown once, works, and stops when it is revoked", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const { tenantId } = (yield* newTenant).json.data
      const created = yield* admin("POST", `/tenants/${tenantId}/keys`, {
        name: "Production",
        scopes: ["enroll:write"],
        expiresAt: "2100-01-01T00:00:00.000Z"
      })
      assertV1(created, 201)
      const { apiKey, apiKeyId, preview } = created.json.data
      assert.isTrue(apiKey.startsWith(preview) && apiKey.length > 40)
      assert.strictEqual(created.json.data.expiresAt, "2100-01-01T00:00:00.000Z")
      const whoami = yield* call("GET", "/v2/whoami", { key: apiKey })
      assert.deepStrictEqual(whoami.json.data.scopes, ["strategies:read", "portfolios:read", "enroll:write"])

      const listed = yield* admin("GET", `/tenants/${tenantId}/keys`)
      assertV1(listed, 200)
      assert.notInclude(listed.text, apiKey)
      assert.strictEqual(listed.json.data.keys[0].apiKeyId, apiKeyId)
      assert.isNull(listed.json.data.keys[0].revokedAt)

      for (let time = 0; time < 2; time++) {
        const revoked = yield* admin("DELETE", `/tenants/${tenantId}/keys/${apiKeyId}`)
        assertV1(revoked, 200)
        assert.deepStrictEqual(revoked.json.data, { apiKeyId, revoked: true })
      }
      assert.match((yield* admin("GET", `/tenants/${tenantId}/keys`)).json.data.keys[0].revokedAt, isoTime)
    })
  )

  it.effect("what is unknown is 404 in the v1 envelope", () =>
    Effect.gen(function* () {
      const { tenantId } = (yield* newTenant).json.data
      assertErrorV1(yield* admin("GET", "/tenants/tn_01JQ8ZKX4V6T3M9N2C5B7D8F0G/keys"), NotFound)
      assertErrorV1(yield* admin("POST", "/tenants/tn_01JQ8ZKX4V6T3M9N2C5B7D8F0G/keys", { name: "x" }), NotFound)
      assertErrorV1(yield* admin("DELETE", `/tenants/${tenantId}/keys/key_01JQ8ZKX4V6T3M9N2C5B7D8F0G`), NotFound)
    })
  )

  it.effect("bodies and ids are checked strictly", () =>
    Effect.gen(function* () {
      const { tenantId } = (yield* newTenant).json.data
      for (const body of [
        {},
        { name: "x", email: "nobody" },
        { name: "x", email: "a@b", more: 1 },
        { name: "x", email: "a@b", entitlements: ["No!"] }
      ]) {
        assertErrorV1(yield* admin("POST", "/tenants", body), ValidationFailed)
      }
      for (const body of [{}, { name: "x", scopes: ["all"] }, { name: "x", expiresAt: "tomorrow" }]) {
        assertErrorV1(yield* admin("POST", `/tenants/${tenantId}/keys`, body), ValidationFailed)
      }
      assertErrorV1(yield* admin("GET", "/tenants/x/keys"), ValidationFailed)
      assertErrorV1(yield* admin("DELETE", `/tenants/${tenantId}/keys/x`), ValidationFailed)
    })
  )
})
