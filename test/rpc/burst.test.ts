/**
 * Hundreds of calls at once by one key: the limit is let through, exactly, over all wires together, and every other
 * call is refused with the seconds to wait. Requests come from many addresses, so theirs is not reached.
 */
import { assert, layer } from "@effect/vitest"
import { Effect, Redacted, Result } from "effect"
import { makeProcedures } from "#rpc/client.ts"
import { newTenant } from "#test/api/support/actors.ts"
import { unlimited } from "#test/api/support/Api.ts"
import { Streams } from "#test/api/support/StreamingApi.ts"
import { executionsApi } from "#test/rpc/support/ExecutionsApi.ts"
import { assertAtLimit, byKey, from } from "#test/rpc/support/senders.ts"

const limit = 150

/** Calls so many times, all at once. */
const atOnce = <A, E, R>(calls: number, call: (index: number) => Effect.Effect<A, E, R>) =>
  Effect.forEach(
    Array.from({ length: calls }, (_, index) => index),
    call,
    { concurrency: "unbounded" }
  )

const addressOf = (index: number) => `127.0.2.${(index % 200) + 1}`

/** How many of the calls passed; every other one was refused as the wire refuses. */
const passedOf = Effect.fnUntraced(function* (
  calls: number,
  { key, method, path }: { readonly key: string; readonly method: "GET" | "POST"; readonly path: string }
) {
  const answers = yield* atOnce(calls, (index) => from(addressOf(index), { method, path, headers: byKey(key) }))
  const refused = answers.filter(({ status }) => status !== 200)
  for (const answer of refused) assertAtLimit(answer, limit)
  return answers.length - refused.length
})

const overJson = (calls: number, key: string) =>
  passedOf(calls, { key, method: "POST", path: "/v1/rpc/v2.executions.list" })

const overRest = (calls: number, key: string) => passedOf(calls, { key, method: "GET", path: "/v2/strategies" })

/** Calls over Effect's RPC, where a refusal is an error of the call. */
const overRpc = Effect.fnUntraced(function* (calls: number, key: string) {
  const baseUrl = new URL((yield* Streams).url("x")).origin
  const client = yield* makeProcedures({ baseUrl, token: Redacted.make(key) })
  const results = yield* atOnce(calls, () => Effect.result(client("v2.executions.list", {})))
  const refused = results.filter(Result.isFailure)
  for (const { failure } of refused) {
    assert.strictEqual(failure._tag, "RateLimited")
    const seconds = failure._tag === "RateLimited" ? failure.retryAfterSeconds : 0
    assert.isTrue(seconds >= 1 && seconds <= 60, `${seconds} seconds`)
  }
  return results.length - refused.length
})

layer(executionsApi({}, { ...unlimited, general: limit }), { excludeTestServices: true })(
  "a burst by one key",
  (it) => {
    it.effect("over the interface's wire is let through up to the limit", () =>
      Effect.gen(function* () {
        const [{ key }, other] = [yield* newTenant(), yield* newTenant()]
        assert.strictEqual(yield* overJson(300, key), limit)
        assert.strictEqual(yield* overJson(1, other.key), 1, "another key has its own")
      })
    )

    it.effect("over Effect's RPC is let through up to the limit", () =>
      Effect.gen(function* () {
        const { key } = yield* newTenant()
        assert.strictEqual(yield* overJson(100, key), 100)
        assert.strictEqual(yield* overRpc(100, key), limit - 100)
      })
    )

    it.effect("over all wires at once is counted in one counter", () =>
      Effect.gen(function* () {
        const { key } = yield* newTenant()
        const passed = yield* Effect.all([overJson(150, key), overRpc(50, key), overRest(150, key)], {
          concurrency: "unbounded"
        })
        assert.strictEqual(
          passed.reduce((sum, one) => sum + one),
          limit
        )
        for (const over of [overJson, overRpc, overRest]) assert.strictEqual(yield* over(10, key), 0)
      })
    )
  }
)
