/**
 * How a stream ends that does not come to the end of its operation: a client that does not read, a long connection, a
 * server that ends.
 */
import { assert, describe, it, layer } from "@effect/vitest"
import { executionEvents, type ExecutionEvent, fromTheBeginning, NotFound } from "#client/effect/effect.ts"
import { Context, Duration, Effect, Exit, Fiber, Layer, Redacted, Scope, Stream } from "effect"
import { FetchHttpClient } from "effect/http"
import { newTenant } from "#test/api/support/actors.ts"
import { cutByBytes, until } from "#test/api/support/slowClient.ts"
import { accepted, append, enter, streamingApi, streamPath, Streams } from "#test/api/support/StreamingApi.ts"

// Nothing but the budget can cut a client in the time that a test may take.
const byBytes = { budget: 65_536, grace: Duration.seconds(2), timeout: Duration.minutes(10) }

layer(streamingApi(byBytes), { excludeTestServices: true })("a client that does not read", (it) => {
  it.effect("is cut once more waits for it than the budget, and another one goes on", () => cutByBytes(streamPath))
})

layer(streamingApi({ longest: Duration.millis(300) }), { excludeTestServices: true })("a connection", (it) => {
  it.effect("ends whole after its longest time, and the next one goes on", () =>
    Effect.gen(function* () {
      const { key, operationId } = yield* accepted
      const { open } = yield* Streams
      const [snapshot, ...none] = yield* Effect.promise((yield* open(operationId, { key })).rest)
      assert.deepStrictEqual(none, [])
      yield* enter(operationId, "failed", "the chain said no")
      // As many connections as it takes, since this machine may be slow.
      let last = snapshot!.id!
      const after: Array<string | undefined> = []
      while (!after.includes("execution.error")) {
        const [, ...events] = yield* Effect.promise((yield* open(operationId, { key, lastEventId: last })).rest)
        after.push(...events.map(({ event }) => event))
        last = events.at(-1)?.id ?? last
      }
      assert.deepStrictEqual(after, ["execution.state_changed", "execution.error"])
    })
  )
})

layer(streamingApi({ longest: Duration.millis(50) }), { excludeTestServices: true })("ballast-effect", (it) => {
  it.effect("follows an operation over many connections, and receives each event once", () =>
    Effect.gen(function* () {
      const { key, operationId } = yield* accepted
      const { url } = yield* Streams
      const options = { baseUrl: new URL(url(operationId)).origin, apiKey: Redacted.make(key) }
      const received: Array<ExecutionEvent> = []
      const fiber = yield* executionEvents(options, operationId, { lastEventId: fromTheBeginning }).pipe(
        Stream.runForEach((event) => Effect.sync(() => received.push(event))),
        Effect.provide(FetchHttpClient.layer),
        Effect.forkScoped
      )
      const receives = (count: number) => until(Effect.sync(() => received.length === count))
      yield* receives(2)
      yield* enter(operationId, "running")
      yield* receives(3)
      yield* append(operationId, "withdrawn", {})
      yield* receives(4)
      yield* enter(operationId, "failed", "the chain said no")
      yield* Fiber.join(fiber)
      assert.deepStrictEqual(
        received.map(({ kind, sequence }) => `${sequence} ${kind.split(".")[1]}`),
        ["0 snapshot", "1 state_changed", "2 state_changed", "3 timeline_appended", "4 state_changed", "5 error"]
      )
    })
  )

  it.effect("fails with the class of the API error", () =>
    Effect.gen(function* () {
      const { operationId } = yield* accepted
      const stranger = yield* newTenant()
      const baseUrl = new URL((yield* Streams).url(operationId)).origin
      const events = executionEvents({ baseUrl, apiKey: Redacted.make(stranger.key) }, operationId)
      const error = yield* Effect.flip(Stream.runDrain(events)).pipe(Effect.provide(FetchHttpClient.layer))
      assert.instanceOf(error, NotFound)
    })
  )
})

describe("a server that ends", () => {
  it.live("ends its streams whole and at once", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const services = yield* Layer.buildWithScope(streamingApi(), scope)
      const { key, operationId } = yield* Effect.provide(accepted, services)
      const source = yield* Context.get(services, Streams).open(operationId, { key })
      assert.strictEqual((yield* Effect.promise(source.nextEvent))?.event, "execution.snapshot")
      // It waits for its connections for a minute, so a stream that held it up would run into the limit of this test.
      yield* Scope.close(scope, Exit.void)
      assert.deepStrictEqual(yield* Effect.promise(source.rest), [], "the end, and not a broken connection")
    }).pipe(Effect.scoped)
  )
})
