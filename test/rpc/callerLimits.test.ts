/** Keys and sessions have one limit over all wires. Requests come from many addresses, so theirs is not reached. */
import { assert, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { makeProcedures } from "#rpc/client.ts"
import { newOwner, newTenant } from "#test/api/support/actors.ts"
import { unlimited } from "#test/api/support/Api.ts"
import { signedIn } from "#test/api/support/signedIn.ts"
import { Streams } from "#test/api/support/StreamingApi.ts"
import { assertAtLimit, byKey, byToken, from } from "#test/rpc/support/senders.ts"
import { executionsApi } from "#test/rpc/support/ExecutionsApi.ts"

const post = { method: "POST" } as const
const list = { ...post, path: "/v1/rpc/v2.executions.list" }
const members = { ...post, path: "/v1/rpc/identity.members" }
const session = { ...post, path: "/v1/rpc/identity.session" }
const signOut = { ...post, path: "/v1/rpc/identity.signOut" }
const strategies = { method: "GET", path: "/v2/strategies" } as const
const burst = { method: "GET", path: "/v1/executions/op_01JQ8ZP3T5V7X9Z1B3D5F7H9K1/stream" } as const

layer(executionsApi({}, { ...unlimited, general: 2, burst: 3, global: 20 }), { excludeTestServices: true })(
  "limits of callers",
  (it) => {
    it.effect("a key at its limit on REST is at its limit on procedures", () =>
      Effect.gen(function* () {
        const [{ key }, other] = [yield* newTenant(), yield* newTenant()]
        for (const remaining of ["1", "0"]) {
          const answer = yield* from("127.0.0.2", { ...strategies, headers: byKey(key) })
          assert.deepStrictEqual([answer.status, answer.headers["x-ratelimit-remaining"]], [200, remaining])
        }
        assertAtLimit(yield* from("127.0.0.3", { ...list, headers: byKey(key) }), 2)
        const bearer = { "content-type": "application/json", authorization: `Bearer ${key}` }
        assertAtLimit(yield* from("127.0.0.3", { ...list, headers: bearer }), 2)
        assert.strictEqual((yield* from("127.0.0.3", { ...list, headers: byKey(other.key) })).status, 200)
      })
    )

    it.effect("a key at its limit on procedures is at its limit on REST, and a tier leaves others alone", () =>
      Effect.gen(function* () {
        const { key } = yield* newTenant()
        for (const remaining of ["1", "0"]) {
          const answer = yield* from("127.0.0.4", { ...list, headers: byKey(key) })
          assert.deepStrictEqual([answer.status, answer.headers["x-ratelimit-remaining"]], [200, remaining])
        }
        assertAtLimit(yield* from("127.0.0.5", { ...strategies, headers: byKey(key) }), 2)
        for (const remaining of ["2", "1", "0"]) {
          const answer = yield* from("127.0.0.5", { ...burst, headers: byKey(key) })
          assert.deepStrictEqual([answer.status, answer.headers["x-ratelimit-remaining"]], [404, remaining])
        }
        const one = { ...post, path: "/v1/rpc/v2.executions.get" }
        // What is malformed counts like all else, as on REST.
        assertAtLimit(yield* from("127.0.0.6", { ...one, headers: byKey(key) }), 3)
        assert.strictEqual((yield* from("127.0.0.6", { ...one, headers: byKey("bk_test_none") })).status, 401)
      })
    )

    it.effect("a session has one limit over REST and procedures too, and can be ended when it is at it", () =>
      Effect.gen(function* () {
        const { tenantId } = yield* newTenant()
        const { token } = yield* signedIn(newOwner(), tenantId)
        for (const remaining of ["1", "0"]) {
          const answer = yield* from("127.0.0.7", { ...members, headers: byToken(token) })
          assert.deepStrictEqual([answer.status, answer.headers["x-ratelimit-remaining"]], [200, remaining])
        }
        assertAtLimit(yield* from("127.0.0.8", { ...members, headers: byToken(token) }), 2)
        assertAtLimit(yield* from("127.0.0.8", { ...list, headers: byToken(token) }), 2)
        const all = yield* Effect.forEach(
          Array.from({ length: 16 }, (_, index) => `127.0.1.${index + 1}`),
          (address) => from(address, { ...session, headers: byToken(token) })
        )
        assert.isTrue(all.every(({ status }) => status === 200))
        assertAtLimit(yield* from("127.0.0.9", { ...session, headers: byToken(token) }), 20)
        assertAtLimit(yield* from("127.0.0.9", { ...burst, headers: byToken(token) }), 20)
        assert.strictEqual((yield* from("127.0.0.9", { ...signOut, headers: byToken(token) })).status, 200)
      })
    )

    it.effect("over Effect's RPC the same key is refused with the seconds to wait, and the address in its tier", () =>
      Effect.gen(function* () {
        const { key } = yield* newTenant()
        for (const address of ["127.0.0.10", "127.0.0.11"])
          assert.strictEqual((yield* from(address, { ...strategies, headers: byKey(key) })).status, 200)
        const baseUrl = new URL((yield* Streams).url("x")).origin
        const client = yield* makeProcedures({ baseUrl, token: Redacted.make(key) })
        const refused = yield* Effect.flip(client("v2.executions.list", {}))
        assert.strictEqual(refused._tag, "RateLimited")
        assert.isAbove(refused._tag === "RateLimited" ? refused.retryAfterSeconds : 0, 0)
        for (const tenant of [yield* newTenant(), yield* newTenant()]) {
          const another = yield* makeProcedures({ baseUrl, token: Redacted.make(tenant.key) })
          yield* another("v2.executions.list", {})
        }
        const { key: fourth } = yield* newTenant()
        assertAtLimit(yield* from("127.0.0.1", { ...strategies, headers: byKey(fourth) }), 2)
        assert.strictEqual((yield* from("127.0.0.12", { ...strategies, headers: byKey(fourth) })).status, 200)
      })
    )
  }
)
