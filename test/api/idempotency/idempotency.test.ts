/**
 * `Idempotency-Key` on every endpoint that takes it. There is no table of these: an endpoint that begins to take it is
 * walked too, and one that creates without it fails the test.
 */
import { assert, layer } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { HttpApi } from "effect/http-api"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { ReplayInProgress, ReplayMismatch, ValidationFailed } from "#domain/errors/Errors.ts"
import { IdempotencyKeys } from "#domain/identity/IdempotencyKeys.ts"
import { makeClaimId } from "#domain/values/Ids.ts"
import { Idempotency } from "#http/middleware/Idempotency.ts"
import { V2 } from "#http/v2/Api.ts"
import { newTenant } from "#test/api/support/actors.ts"
import { Api, ApiLive } from "#test/api/support/Api.ts"
import { assertError } from "#test/api/support/assertions.ts"
import { endpoints } from "#test/api/support/endpoints.ts"
import { MovableClock } from "#test/support/MovableClock.ts"

const named = new Map<string, string>()
HttpApi.reflect(V2, {
  onGroup: () => {},
  onEndpoint: ({ endpoint, middleware }) => {
    if ([...middleware].some(({ key }) => key === Idempotency.key))
      named.set(
        `${endpoint.method} ${endpoint.path.replaceAll(/:([A-Za-z]+)/gu, "{$1}")}`,
        `${endpoint.method} ${endpoint.path}`
      )
  }
})

/** POSTs of v2 that store nothing, or nothing more when they are sent again. */
const without = [
  "POST /v2/strategies/validate",
  "POST /v2/strategies/backtest",
  "POST /v2/strategies/{strategyId}/restore",
  "POST /v2/assets/allocation-breakdown",
  "POST /v2/portfolios/{portfolioId}/start",
  "POST /v2/portfolios/{portfolioId}/stop",
  "POST /v2/portfolios/{portfolioId}/rebalance/preview",
  "POST /v2/portfolios/{portfolioId}/operations/{operationId}/cancel",
  "POST /v2/portfolios/{portfolioId}/withdraw/signature",
  "POST /v2/portfolios/{portfolioId}/liquidate-all/signature",
  "POST /v2/webhooks/{webhookId}/enable"
]

const url = "https://hooks.example.com/ballast"
const path = "/v2/webhooks"
const headers = (key: string) => ({ "idempotency-key": key })
const replayedOf = (answer: { readonly headers: Headers }) => answer.headers.get("idempotent-replayed")

const post = (key: string, name: string, body: unknown = { url }) =>
  Effect.flatMap(Api, ({ call }) => call("POST", path, { key, headers: headers(name), body }))

const webhooksOf = (key: string) =>
  Effect.flatMap(Api, ({ call }) => Effect.map(call("GET", path, { key }), ({ json }) => json.data.webhooks.length))

layer(ApiLive, { excludeTestServices: true })("Idempotency-Key", (it) => {
  it("is taken by every POST of v2 that creates", () => {
    const posts = endpoints.map(({ route }) => route).filter((route) => route.startsWith("POST /v2/"))
    assert.deepStrictEqual(posts.filter((route) => !without.includes(route)).sort(), [...named.keys()].sort())
    for (const route of without) assert.include(posts, route)
  })

  for (const { body, method, path: target, route } of endpoints.filter((endpoint) => named.has(endpoint.route))) {
    it.effect(`${route}: a request that is still in progress is refused, and one with another body`, () =>
      Effect.gen(function* () {
        const { call } = yield* Api
        const keys = yield* IdempotencyKeys
        const random = yield* SecureRandom.SecureRandom
        const sql = yield* SqlClient.SqlClient
        const { key, tenantId } = yield* newTenant()
        const now = yield* DateTime.now
        const send = call(method, target, { key, headers: headers("one"), body })
        yield* keys.claim({
          request: { tenantId, route: named.get(route)!, key: "one", fingerprint: new Uint8Array(32) },
          claimId: yield* Effect.provideService(makeClaimId, SecureRandom.SecureRandom, random),
          now,
          until: DateTime.add(now, { minutes: 1 })
        })
        assertError(yield* send, ReplayMismatch)
        const sent = yield* call(method, target, { key, headers: headers("two"), body })
        assert.isBelow(sent.status, 500)
        // What the request above had claimed, had it not ended.
        yield* sql`DELETE FROM idempotency_keys WHERE tenant_id = ${tenantId}`
        const print = yield* fingerprintOf(target, body)
        yield* keys.claim({
          request: { tenantId, route: named.get(route)!, key: "one", fingerprint: print },
          claimId: yield* Effect.provideService(makeClaimId, SecureRandom.SecureRandom, random),
          now,
          until: DateTime.add(now, { minutes: 1 })
        })
        assertError(yield* send, ReplayInProgress)
        const malformed = yield* call(method, target, { key, headers: headers("x".repeat(256)), body })
        assertError(malformed, ValidationFailed, "Idempotency-Key: ")
      })
    )
  }

  it.effect("answers the same again, and does nothing again", () =>
    Effect.gen(function* () {
      const { key } = yield* newTenant()
      const first = yield* post(key, "a")
      assert.strictEqual(first.status, 201)
      assert.isNull(replayedOf(first))
      const again = yield* post(key, "a")
      assert.strictEqual(again.status, 201)
      assert.strictEqual(again.text, first.text, "the secret too")
      assert.strictEqual(again.headers.get("content-type"), first.headers.get("content-type"))
      assert.strictEqual(replayedOf(again), "true")
      assert.notStrictEqual(again.headers.get("x-request-id"), first.headers.get("x-request-id"))
      assertError(yield* post(key, "a", { url, description: "Another" }), ReplayMismatch)
      assert.strictEqual(yield* webhooksOf(key), 1)
      assert.strictEqual((yield* post(key, "b")).status, 201)
      assert.strictEqual(yield* webhooksOf(key), 2)
    })
  )

  it.effect("belongs to a tenant, is any visible text, and is forgotten after a day", () =>
    Effect.gen(function* () {
      const { advance } = yield* MovableClock
      const [one, other] = [yield* newTenant(), yield* newTenant()]
      const made = yield* post(one.key, "!~")
      assert.isNull(replayedOf(yield* post(other.key, "!~")))
      advance(86_400_000 - 5_000)
      assert.strictEqual((yield* post(one.key, "!~")).text, made.text)
      advance(6_000)
      assert.isNull(replayedOf(yield* post(one.key, "!~")))
      for (const name of ["a b", "é", "x".repeat(256)])
        assertError(yield* post(one.key, name), ValidationFailed, "Idempotency-Key: ")
    })
  )

  it.effect("is free after a refusal, and for what a crash left behind after a minute", () =>
    Effect.gen(function* () {
      const { advance } = yield* MovableClock
      const sql = yield* SqlClient.SqlClient
      const { key, tenantId } = yield* newTenant()
      assertError(yield* post(key, "a", { url: "https://localhost/" }), ValidationFailed)
      assert.deepStrictEqual(yield* sql`SELECT 1 FROM idempotency_keys WHERE tenant_id = ${tenantId}`, [])
      assert.strictEqual((yield* post(key, "a")).status, 201)
      yield* sql`UPDATE idempotency_keys SET status = NULL, answer = NULL WHERE tenant_id = ${tenantId}`
      assertError(yield* post(key, "a"), ReplayInProgress)
      advance(61_000)
      assert.isNull(replayedOf(yield* post(key, "a")))
    })
  )

  it.effect("of 50 requests at once under one key one is carried out, and all get its answer or API_007", () =>
    Effect.gen(function* () {
      const { key } = yield* newTenant()
      const burst = yield* Effect.forEach(Array.from({ length: 50 }), () => post(key, "a"), {
        concurrency: "unbounded"
      })
      const made = burst.filter(({ status }) => status === 201)
      assert.isAtLeast(made.length, 1)
      assert.lengthOf(
        made.filter((answer) => replayedOf(answer) === null),
        1
      )
      assert.strictEqual(new Set(made.map(({ text }) => text)).size, 1)
      for (const answer of burst.filter(({ status }) => status !== 201)) assertError(answer, ReplayInProgress)
      assert.strictEqual(yield* webhooksOf(key), 1)
    })
  )

  it.effect("nothing is created whose answer could not be kept, and the key is free again", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { key } = yield* newTenant()
      yield* Effect.acquireUseRelease(
        sql`ALTER TABLE idempotency_keys ADD CONSTRAINT unanswered CHECK (answer IS NULL) NOT VALID`,
        () => Effect.map(post(key, "a"), ({ status }) => assert.strictEqual(status, 500)),
        () => Effect.orDie(sql`ALTER TABLE idempotency_keys DROP CONSTRAINT unanswered`)
      )
      assert.strictEqual(yield* webhooksOf(key), 0)
      assert.strictEqual((yield* post(key, "a")).status, 201)
      assert.strictEqual(yield* webhooksOf(key), 1)
    })
  )

  it.effect("an answer is stored sealed: a secret that is shown once is not in the database", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { key, tenantId } = yield* newTenant()
      const { json } = yield* post(key, "a")
      const [row] = yield* sql<{ readonly answer: Uint8Array }>`
        SELECT answer FROM idempotency_keys WHERE tenant_id = ${tenantId}`
      assert.isAbove(row!.answer.length, 100)
      assert.isFalse(Buffer.from(row!.answer).includes(json.data.secret))
    })
  )
})

/** Computes a request's fingerprint as the service does: by path and body, byte for byte. */
const fingerprintOf = (target: string, body: unknown) =>
  Effect.promise(async () => {
    const text = body === undefined ? "" : JSON.stringify(body)
    return new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(`${target}\n${text}`)))
  })
