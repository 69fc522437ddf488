import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Api, ApiLive } from "#test/api/support/Api.ts"
import { MovableClock } from "#test/support/MovableClock.ts"
import { TestEnvironment } from "#test/api/support/TestEnvironment.ts"

layer(ApiLive, { excludeTestServices: true })("health", (it) => {
  it.effect("live answers by itself, ready by what it needs", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const environment = yield* TestEnvironment
      const ready = yield* call("GET", "/health/ready")
      assert.strictEqual(ready.status, 200)
      assert.deepStrictEqual(ready.json, { status: "ready", checks: { database: { ok: true, detail: "answers" } } })
      environment.isReady = false
      assert.strictEqual((yield* call("GET", "/health/ready")).status, 200, "what was found is kept for a second")
      ;(yield* MovableClock).advance(1_001)
      const unready = yield* call("GET", "/health/ready")
      assert.strictEqual(unready.status, 503)
      assert.deepStrictEqual(unready.json, {
        status: "not ready",
        checks: { database: { ok: false, detail: "does not answer" } }
      })
      const live = yield* call("GET", "/health/live")
      assert.isTrue(live.headers.has("x-ratelimit-remaining"), "counted like any request")
      assert.strictEqual(live.status, 200)
      assert.deepStrictEqual(live.json, { status: "live" })
    })
  )

  it.effect("a process that has not reached its database for too long is not live, and says so", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const environment = yield* TestEnvironment
      environment.isLive = false
      const dead = yield* call("GET", "/health/live")
      environment.isLive = true
      assert.strictEqual(dead.status, 503)
      assert.deepStrictEqual(dead.json, {
        status: "not live",
        checks: {
          database: { ok: false, detail: "answered 181 s ago" },
          loop: { ok: true, detail: "had its turn 0 s ago" }
        }
      })
      assert.strictEqual((yield* call("GET", "/health/live")).status, 200)
    })
  )
})
