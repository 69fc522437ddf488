/** What is recorded when the database stands still: no request waits, and what does not fit is dropped and counted. */
import { assert, it } from "@effect/vitest"
import { DateTime, Deferred, Effect, Layer, Metric } from "effect"
import { capacity, RefusedRequests } from "#domain/request/RefusedRequests.ts"
import { type RefusedRequest, RefusedRequestStore } from "#domain/request/RefusedRequestStore.ts"
import type { ApiKeyId, TenantId } from "#domain/values/Ids.ts"
import * as Metrics from "#domain/effects/Metrics.ts"

const request = (index: number): RefusedRequest => ({
  tenantId: "tn_01JQ8ZKX4V6T3M9N2C5B7D8F0G" as TenantId,
  apiKeyId: "key_01JQ8ZKX4V6T3M9N2C5B7D8F0G" as ApiKeyId,
  at: DateTime.makeUnsafe(index),
  requestId: String(index),
  correlationId: String(index),
  method: "GET",
  route: "/v2/whoami",
  status: 404,
  code: "API_006",
  message: null,
  milliseconds: 1
})

const dropped = Effect.map(Metric.value(Metrics.refusedRequestsDropped), ({ count }) => Number(count))

it.live(
  "a database that stands still delays no request; what does not fit is dropped and counted, the rest is written at the end",
  () =>
    Effect.gen(function* () {
      const before = yield* dropped
      const written: Array<string> = []
      const opened = yield* Deferred.make<void>()
      const store = Layer.succeed(RefusedRequestStore, {
        insert: (requests) =>
          Effect.andThen(
            Deferred.await(opened),
            Effect.sync(() => void written.push(...requests.map(({ requestId }) => requestId)))
          ),
        list: () => Effect.succeed([]),
        prune: () => Effect.succeed(0)
      })
      const more = 500
      yield* Effect.gen(function* () {
        const { note } = yield* RefusedRequests
        for (let index = 0; index < capacity + more; index++) note(request(index))
        assert.strictEqual((yield* dropped) - before, more)
        yield* Deferred.succeed(opened, undefined)
      }).pipe(Effect.provide(RefusedRequests.layer.pipe(Layer.provide(store))))
      assert.deepStrictEqual(
        written,
        Array.from({ length: capacity }, (_, index) => String(index))
      )
    })
)

it.live("what the database refuses is counted as dropped, and what comes after it is written", () =>
  Effect.gen(function* () {
    const before = yield* dropped
    const written: Array<string> = []
    let isBroken = true
    const store = Layer.succeed(RefusedRequestStore, {
      insert: (requests) =>
        isBroken
          ? Effect.die(new Error("the database is gone"))
          : Effect.sync(() => void written.push(...requests.map(({ requestId }) => requestId))),
      list: () => Effect.succeed([]),
      prune: () => Effect.succeed(0)
    })
    yield* Effect.gen(function* () {
      const { note } = yield* RefusedRequests
      for (let index = 0; index < 3; index++) note(request(index))
      yield* Effect.repeat(Effect.sleep(10), {
        until: () => Effect.map(dropped, (count) => count - before === 3),
        times: 500
      })
      isBroken = false
      note(request(3))
    }).pipe(Effect.provide(RefusedRequests.layer.pipe(Layer.provide(store))))
    assert.deepStrictEqual(written, ["3"])
  })
)
