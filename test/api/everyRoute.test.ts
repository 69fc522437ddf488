/**
 * What any route can answer whatever it does, on every endpoint of the v2 API: a key that expired, a tenant that is
 * disabled, a body that is too large, too many requests, a fault of ours. There is no table: a new endpoint is walked
 * too.
 */
import { assert, layer } from "@effect/vitest"
import { DateTime, Effect, Layer, Logger, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { ConnectionError, SqlError } from "effect/sql/SqlError"
import { BodyTooLarge, Internal, KeyExpired, RateLimited, TenantDisabled, Unavailable } from "#domain/errors/Errors.ts"
import { ApiKeys } from "#domain/identity/ApiKeys.ts"
import { Tenants } from "#domain/identity/Tenants.ts"
import { RateLimits } from "#domain/request/RateLimits.ts"
import { newTenant } from "#test/api/support/actors.ts"
import { Api, apiCountedBy, ApiLive, apiWith } from "#test/api/support/Api.ts"
import { assertError } from "#test/api/support/assertions.ts"
import { endpoints } from "#test/api/support/endpoints.ts"
import { MovableClock } from "#test/support/MovableClock.ts"

const keyed = endpoints.filter(({ isPublic }) => !isPublic)
const withBody = endpoints.filter(({ body }) => body !== undefined)

const log: Array<string> = []
const Recorder = Logger.layer([Logger.map(Logger.formatStructured, (line) => void log.push(JSON.stringify(line)))])

const Recorded = ApiLive.pipe(Layer.provide(Recorder))

/** The call fails by a fault. The log has the whole cause, and the answer has none of it. */
const assertFault = Effect.fnUntraced(function* (
  { body, method, path }: (typeof endpoints)[number],
  {
    call,
    cause,
    key
  }: { readonly call: Api["Service"]["call"]; readonly cause: string; readonly key?: string | undefined }
) {
  const answer = yield* call(method, path, { ...(key === undefined ? {} : { key }), body })
  assertError(answer, Internal)
  assert.notInclude(answer.text, cause)
  yield* Effect.yieldNow
  const correlationId = answer.headers.get("x-correlation-id")!
  const logged = log.filter((line) => line.includes(correlationId))
  assert.lengthOf(logged, 1)
  assert.include(logged[0], cause)
  assert.include(logged[0], '"level":"ERROR"')
})

/** Routes whose handlers read nothing that is stored: their key is what the store is asked for. */
const withoutStore: ReadonlySet<string> = new Set(["GET /v2/whoami", "GET /v2/chains"])

layer(Recorded, { excludeTestServices: true })("every route", (it) => {
  for (const { body, method, path, route } of keyed) {
    it.effect(`${route}: an expired key is refused as expired`, () =>
      Effect.gen(function* () {
        const { call } = yield* Api
        const { tenantId } = yield* newTenant()
        const expiresAt = DateTime.subtract(yield* DateTime.now, { seconds: 1 })
        const { secret } = yield* (yield* Tenants).createKey(tenantId, { name: "old", scopes: [], expiresAt })
        assertError(yield* call(method, path, { key: Redacted.value(secret), body }), KeyExpired)
      })
    )

    it.effect(`${route}: a disabled tenant is refused as disabled`, () =>
      Effect.gen(function* () {
        const { call } = yield* Api
        const sql = yield* SqlClient.SqlClient
        const { key, tenantId } = yield* newTenant()
        yield* sql`UPDATE tenants SET disabled_at = created_at WHERE tenant_id = ${tenantId}`
        assertError(yield* call(method, path, { key, body }), TenantDisabled)
      })
    )
  }

  for (const { method, path, route } of withBody) {
    it.effect(`${route}: a body of more than 64 KiB is not read`, () =>
      Effect.gen(function* () {
        const { call } = yield* Api
        const { key } = yield* newTenant()
        assertError(yield* call(method, path, { key, text: `{"x":"${"x".repeat(66_000)}"}` }), BodyTooLarge)
      })
    )
  }

  for (const endpoint of keyed) {
    it.effect(`${endpoint.route}: a store that fails is a fault of ours`, () =>
      Effect.gen(function* () {
        const { call } = yield* Api
        const sql = yield* SqlClient.SqlClient
        const { key } = yield* newTenant()
        // A key that is cached takes the request as far as its handler; these need nothing else.
        if (!withoutStore.has(endpoint.route)) yield* (yield* ApiKeys).authenticate(key)
        yield* Effect.acquireUseRelease(
          sql`ALTER SCHEMA public RENAME TO gone`,
          () => assertFault(endpoint, { call, cause: "effect/sql/SqlError", key }),
          () => Effect.orDie(sql`ALTER SCHEMA gone RENAME TO public`)
        )
      })
    )
  }
})

const limits = { global: 4, critical: 1, general: 2, burst: 3 }

layer(apiWith(limits), { excludeTestServices: true })("every route", (it) => {
  for (const { body, isPublic, method, path, route, tier } of endpoints) {
    it.effect(`${route}: is refused when the ${tier} counter has run out`, () =>
      Effect.gen(function* () {
        const { call } = yield* Api
        const { arrive, consume } = yield* RateLimits
        ;(yield* MovableClock).advance(60_000)
        const { apiKeyId: credential, key } = yield* newTenant()
        // Requests of these tests come from nowhere; without a key only the address is counted.
        const count = () => (isPublic ? arrive("unknown") : consume({ address: "another", credential, tier }))
        for (let used = 0; used < limits[tier]; used += 1) yield* count()
        const answer = yield* call(method, path, { key, body })
        assertError(answer, RateLimited)
        assert.strictEqual(answer.headers.get("x-ratelimit-limit"), String(limits[tier]))
        assert.isAtLeast(Number(answer.headers.get("retry-after")), 1)
      })
    )
  }
})

const BrokenCounters = Layer.succeed(RateLimits, {
  arrive: () => Effect.die(new Error("the counters are broken")),
  consume: () => Effect.die(new Error("the counters are broken"))
})

layer(apiCountedBy(BrokenCounters).pipe(Layer.provide(Recorder)), { excludeTestServices: true })(
  "every route",
  (it) => {
    for (const endpoint of endpoints.filter(({ isPublic }) => isPublic)) {
      it.effect(`${endpoint.route}: counters that fail are a fault of ours`, () =>
        Effect.flatMap(Api, ({ call }) => assertFault(endpoint, { call, cause: "the counters are broken" }))
      )
    }
  }
)

const lostConnection = Effect.suspend(() =>
  Effect.die(new SqlError({ reason: new ConnectionError({ cause: new Error("cut off") }) }))
)
const AbsenceCounters = Layer.succeed(RateLimits, { arrive: () => lostConnection, consume: () => lostConnection })

layer(apiCountedBy(AbsenceCounters).pipe(Layer.provide(Recorder)), { excludeTestServices: true })(
  "every route",
  (it) => {
    for (const { body, method, path, route } of endpoints) {
      it.effect(`${route}: storage that is away is a 503 that says when to come back, and a warning`, () =>
        Effect.gen(function* () {
          const { call } = yield* Api
          const answer = yield* call(method, path, { body })
          assertError(answer, Unavailable)
          assert.strictEqual(answer.headers.get("retry-after"), "2")
          assert.notInclude(answer.text, "cut off")
          yield* Effect.yieldNow
          const logged = log.filter((line) => line.includes(answer.headers.get("x-correlation-id")!))
          assert.lengthOf(logged, 1)
          assert.include(logged[0], "cut off")
          assert.include(logged[0], '"level":"WARN"')
        })
      )
    }
  }
)
