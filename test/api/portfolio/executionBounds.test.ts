/**
 * How a stream ends that does not come to the end of its operation: a client that does not read, a long connection, a
 * server that ends.
 */
import { assert, describe, it, layer } from "@effect/vitest"
import { executionEvents, type ExecutionEvent, fromTheBeginning, NotFound } from "ballast/client"
import { Context, Duration, Effect, Exit, Fiber, Layer, Redacted, Schedule, Scope, Stream } from "effect"
import { FetchHttpClient } from "effect/http"
import { connect, type Socket } from "node:net"
import { once } from "node:events"
import { newTenant } from "#test/api/support/actors.ts"
import { accepted, append, enter, streamingApi, streamPath, Streams } from "#test/api/support/StreamingApi.ts"

const connections = Effect.flatMap(Streams, ({ server }) =>
  Effect.callback<number>((resume) => {
    server.getConnections((_, count) => resume(Effect.succeed(count)))
  })
)

const until = <E, R>(isTrue: Effect.Effect<boolean, E, R>) =>
  Effect.repeat(isTrue, { until: (yes) => yes, schedule: Schedule.spaced("20 millis") })

/** A connection that asks for the stream and never reads. */
const deafClient = (operationId: string, key: string) =>
  Effect.acquireRelease(
    Effect.flatMap(Streams, ({ url }) =>
      Effect.promise(async (): Promise<Socket> => {
        const { hostname, port } = new URL(url(operationId))
        const socket = connect({ host: hostname, port: Number(port) })
        socket.on("error", () => {})
        socket.pause()
        await once(socket, "connect")
        socket.write(`GET ${streamPath(operationId)} HTTP/1.1\r\nhost: x\r\nx-api-key: ${key}\r\n\r\n`)
        return socket
      })
    ),
    (socket) => Effect.sync(() => socket.destroy())
  )

// The client that reads shares its process with the server, so both need time.
layer(streamingApi({ timeout: Duration.seconds(3) }), { excludeTestServices: true })(
  "a client that does not read",
  (it) => {
    it.effect("is cut once what waits for it is too much, and another one goes on", () =>
      Effect.gen(function* () {
        const { key, operationId } = yield* accepted
        const { open } = yield* Streams
        const reader = yield* open(operationId, { key })
        const idle = yield* connections
        yield* deafClient(operationId, key)
        yield* until(Effect.map(connections, (count) => count === idle + 1))
        yield* enter(operationId, "running")
        const large = "x".repeat(500_000)
        // More than the connection's own buffers hold.
        for (let count = 0; count < 24; count++) yield* append(operationId, "withdrawn", { large })
        yield* until(Effect.map(connections, (count) => count === idle))
        yield* enter(operationId, "failed", "the chain said no")
        const frames = yield* Effect.promise(reader.rest)
        assert.lengthOf(frames, 28)
        assert.strictEqual(frames.at(-1)?.event, "execution.error")
      })
    )
  }
)

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

layer(streamingApi({ longest: Duration.millis(50) }), { excludeTestServices: true })("ballast/client", (it) => {
  it.effect("follows an operation over many connections, and hears each event once", () =>
    Effect.gen(function* () {
      const { key, operationId } = yield* accepted
      const { url } = yield* Streams
      const options = { baseUrl: new URL(url(operationId)).origin, apiKey: Redacted.make(key) }
      const told: Array<ExecutionEvent> = []
      const fiber = yield* executionEvents(options, operationId, { lastEventId: fromTheBeginning }).pipe(
        Stream.runForEach((event) => Effect.sync(() => told.push(event))),
        Effect.provide(FetchHttpClient.layer),
        Effect.forkScoped
      )
      const heard = (count: number) => until(Effect.sync(() => told.length === count))
      yield* heard(2)
      yield* enter(operationId, "running")
      yield* heard(3)
      yield* append(operationId, "withdrawn", {})
      yield* heard(4)
      yield* enter(operationId, "failed", "the chain said no")
      yield* Fiber.join(fiber)
      assert.deepStrictEqual(
        told.map(({ kind, sequence }) => `${sequence} ${kind.split(".")[1]}`),
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
