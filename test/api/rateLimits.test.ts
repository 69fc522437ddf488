import { assert, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { NotFound, PermissionDenied, RateLimited, ValidationFailed } from "#domain/errors/Errors.ts"
import { Tenants } from "#domain/identity/Tenants.ts"
import { newTenant } from "#test/api/support/actors.ts"
import { type Answer, Api, apiWith } from "#test/api/support/Api.ts"
import { assertError } from "#test/api/support/assertions.ts"
import { MovableClock } from "#test/support/MovableClock.ts"

const window = 60_000

const limitOf = ({ headers }: Answer) => Number(headers.get("x-ratelimit-limit"))
const remainingOf = ({ headers }: Answer) => Number(headers.get("x-ratelimit-remaining"))

/** Every test begins with a new window. */
const fresh = Effect.map(MovableClock, (clock) => clock.advance(window))

layer(apiWith({ global: 12, critical: 2, general: 3, burst: 5 }), { excludeTestServices: true })(
  "rate limits",
  (it) => {
    it.effect("a tier's counter is shown, runs out, and comes back with the window", () =>
      Effect.gen(function* () {
        const { call } = yield* Api
        yield* fresh
        const { key } = yield* newTenant()
        for (const remaining of [2, 1, 0]) {
          const answer = yield* call("GET", "/v2/strategies", { key })
          assert.strictEqual(answer.status, 200)
          assert.strictEqual(limitOf(answer), 3)
          assert.strictEqual(remainingOf(answer), remaining)
          assert.match(answer.headers.get("x-ratelimit-reset") ?? "", /^\d{10}$/)
        }
        const refused = yield* call("GET", "/v2/portfolios", { key })
        assertError(refused, RateLimited)
        assert.strictEqual(remainingOf(refused), 0)
        const wait = Number(refused.headers.get("retry-after"))
        assert.isTrue(wait >= 1 && wait <= 60)
        ;(yield* MovableClock).advance(window)
        assert.strictEqual((yield* call("GET", "/v2/strategies", { key })).status, 200)
      })
    )

    it.effect("tiers count apart, and errors contain the headers too", () =>
      Effect.gen(function* () {
        const { call } = yield* Api
        yield* fresh
        const { key } = yield* newTenant()
        const invalid = yield* call("POST", "/v2/strategies", { key, body: {} })
        assertError(invalid, ValidationFailed)
        assert.deepStrictEqual([limitOf(invalid), remainingOf(invalid)], [2, 1])
        const missing = yield* call("GET", "/v2/strategies/01JQ8ZKX4V6T3M9N2C5B7D8F0G", { key })
        assertError(missing, NotFound)
        assert.deepStrictEqual([limitOf(missing), remainingOf(missing)], [5, 4])
        const tenants = yield* Tenants
        const { tenantId } = yield* newTenant()
        const { secret } = yield* tenants.createKey(tenantId, { name: "reader", scopes: [], expiresAt: null })
        const forbidden = yield* call("POST", "/v2/strategies", { key: Redacted.value(secret), body: {} })
        assertError(forbidden, PermissionDenied)
        assert.strictEqual(limitOf(forbidden), 12)
      })
    )

    it.effect("an address shares a tier over all its keys", () =>
      Effect.gen(function* () {
        const { call } = yield* Api
        yield* fresh
        const [first, second] = [yield* newTenant(), yield* newTenant()]
        for (const { key } of [first, first, second])
          assert.strictEqual((yield* call("GET", "/v2/strategies", { key })).status, 200)
        assertError(yield* call("GET", "/v2/strategies", { key: second.key }), RateLimited)
      })
    )

    it.effect("whoami and scopes count globally only", () =>
      Effect.gen(function* () {
        const { call } = yield* Api
        yield* fresh
        const { key } = yield* newTenant()
        for (const path of [
          "/v2/whoami",
          "/v2/scopes",
          "/v2/whoami",
          "/v2/whoami",
          "/v2/whoami",
          "/v2/whoami",
          "/v2/whoami"
        ]) {
          const answer = yield* call("GET", path, { key })
          assert.strictEqual(answer.status, 200)
          assert.strictEqual(limitOf(answer), 12)
        }
      })
    )

    it.effect("the global limit holds for everything, for probes apart, in the envelope of the path", () =>
      Effect.gen(function* () {
        const { call } = yield* Api
        yield* fresh
        for (let index = 0; index < 12; index++) assert.notStrictEqual((yield* call("GET", "/nope")).status, 429)
        assertError(yield* call("GET", "/v2/scopes"), RateLimited)
        const v1 = yield* call("GET", "/v1/admin/tenants")
        assert.strictEqual(v1.status, 429)
        assert.strictEqual(v1.json.requestId, v1.headers.get("x-request-id"))
        assert.isTrue(v1.headers.has("retry-after"))
        for (let remaining = 11; remaining >= 0; remaining--) {
          const probe = yield* call("GET", "/health/live")
          assert.deepStrictEqual([probe.status, remainingOf(probe)], [200, remaining])
        }
        assert.strictEqual((yield* call("GET", "/health/ready")).status, 429)
      })
    )
  }
)
