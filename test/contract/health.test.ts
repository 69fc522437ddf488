import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Api, ApiLive } from "#test/contract/support/Api.ts"
import { Surroundings } from "#test/contract/support/Surroundings.ts"

layer(ApiLive, { excludeTestServices: true })("health", (it) => {
  it.effect("live answers by itself, ready by what it needs", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const surroundings = yield* Surroundings
      const ready = yield* call("GET", "/health/ready")
      assert.strictEqual(ready.status, 200)
      assert.deepStrictEqual(ready.json, { status: "ready", checks: { database: { ok: true, detail: "answers" } } })
      surroundings.isReady = false
      const unready = yield* call("GET", "/health/ready")
      assert.strictEqual(unready.status, 503)
      assert.deepStrictEqual(unready.json, {
        status: "not ready",
        checks: { database: { ok: false, detail: "does not answer" } }
      })
      const live = yield* call("GET", "/health/live")
      assert.strictEqual(live.status, 200)
      assert.deepStrictEqual(live.json, { status: "live" })
    })
  )
})
