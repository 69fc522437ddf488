import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { KeyInvalid, KeyMissing, ValidationFailed } from "#domain/errors/Errors.ts"
import { newStrategy, newTenant } from "#test/api/support/actors.ts"
import { adminToken, type Answer, Api, ApiLive } from "#test/api/support/Api.ts"
import { assertTraced } from "#test/api/support/assertions.ts"

const path = "/v1/admin/discovery/curated"

const admin = (method: string, body?: unknown, token = adminToken) =>
  Effect.flatMap(Api, ({ call }) => call(method, path, { headers: { authorization: `Bearer ${token}` }, body }))

const assertV1 = (answer: Answer, strategyIds: ReadonlyArray<string>) => {
  assert.strictEqual(answer.status, 200, answer.text)
  const { data, success, ...ids } = answer.json
  assert.isTrue(success)
  assert.deepStrictEqual(Object.keys(ids), ["correlationId", "requestId", "timestamp"])
  assert.deepStrictEqual(data, { strategyIds })
  assertTraced(answer)
}

const assertRefused = (answer: Answer, ...details: ReadonlyArray<string>) => {
  const { code, status } = ValidationFailed.contract
  assert.strictEqual(answer.status, status, answer.text)
  assert.strictEqual(answer.json.error.code, code)
  assert.strictEqual(answer.json.correlationId, answer.headers.get("x-correlation-id"))
  for (const detail of details) {
    assert.isTrue(
      answer.json.error.details.some((line: string) => line.startsWith(detail)),
      answer.text
    )
  }
}

layer(ApiLive, { excludeTestServices: true })("curation", (it) => {
  it.effect("what the operator selects is the curated collection, in that order", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const sql = yield* SqlClient.SqlClient
      const [owner, other] = [yield* newTenant(), yield* newTenant()]
      const a = yield* newStrategy(owner, { isPublic: true })
      const b = yield* newStrategy(other, { isPublic: true })
      assertV1(yield* admin("PUT", { strategyIds: [b, a] }), [b, a])
      assertV1(yield* admin("GET"), [b, a])
      const curated = Effect.map(
        call("GET", "/v2/discovery/strategies?collection=curated", { key: owner.key }),
        ({ json }) => json.data.strategies.map(({ strategyId }: { strategyId: string }) => strategyId)
      )
      assert.deepStrictEqual(yield* curated, [b, a])
      // One that is private for a while keeps its position.
      yield* sql`UPDATE strategies SET is_public = false WHERE strategy_id = ${b}`
      assert.deepStrictEqual(yield* curated, [a])
      assertV1(yield* admin("GET"), [b, a])
      yield* sql`UPDATE strategies SET is_public = true WHERE strategy_id = ${b}`
      assert.deepStrictEqual(yield* curated, [b, a])
      assertV1(yield* admin("PUT", { strategyIds: [] }), [])
      assert.deepStrictEqual(yield* curated, [])
    })
  )

  it.effect("a selection with one that cannot be shown is refused whole, and each is named", () =>
    Effect.gen(function* () {
      const owner = yield* newTenant()
      const open = yield* newStrategy(owner, { isPublic: true })
      const secret = yield* newStrategy(owner)
      const unknown = "01JQ8ZKX4V6T3M9N2C5B7D8F0G"
      yield* admin("PUT", { strategyIds: [open] })
      assertRefused(
        yield* admin("PUT", { strategyIds: [secret, open, unknown] }),
        `strategyIds.0: ${secret}`,
        `strategyIds.2: ${unknown}`
      )
      assertRefused(yield* admin("PUT", { strategyIds: [open, open] }), `strategyIds.1: ${open} is named twice`)
      assertV1(yield* admin("GET"), [open])
    })
  )

  it.effect("bodies are checked strictly", () =>
    Effect.gen(function* () {
      for (const body of [
        {},
        { strategyIds: "x" },
        { strategyIds: ["x"] },
        { strategyIds: [1] },
        { strategyIds: [], more: 1 },
        { strategyIds: Array.from({ length: 501 }, () => "01JQ8ZKX4V6T3M9N2C5B7D8F0G") }
      ]) {
        assertRefused(yield* admin("PUT", body))
      }
    })
  )

  it.effect("needs the admin token", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      for (const method of ["GET", "PUT"]) {
        const missing = yield* call(method, path, method === "PUT" ? { text: "{" } : {})
        assert.strictEqual(missing.json.error.code, KeyMissing.contract.code)
        const wrong = yield* admin(method, method === "PUT" ? {} : undefined, `${adminToken}x`)
        assert.strictEqual(wrong.json.error.code, KeyInvalid.contract.code)
      }
    })
  )
})
