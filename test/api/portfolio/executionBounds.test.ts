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
const deafClient = (path: string, key: string, lastEventId?: string) =>
  Effect.acquireRelease(
    Effect.flatMap(Streams, ({ url }) =>
      Effect.promise(async (): Promise<Socket> => {
        const { hostname, port } = new URL(url("x"))
        const resume = lastEventId === undefined ? "" : `last-event-id: ${lastEventId}\r\n`
        const socket = connect({ host: hostname, port: Number(port) })
        socket.on("error", () => {})
        socket.pause()
        await once(socket, "connect")
        socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\nx-api-key: ${key}\r\n${resume}\r\n`)
        return socket
      })
    ),
    (socket) => Effect.sync(() => socket.destroy())
  )

// Nothing but the budget can cut a client in the time that a test may take.
const byBytes = { budget: 65_536, grace: Duration.seconds(2), timeout: Duration.minutes(10) }

layer(streamingApi(byBytes), { excludeTestServices: true })("a client that does not read", (it) => {
  const budgetOf = {
    "server-sent events": streamPath,
    "the AG-UI stream": (operationId: string) => `/v1/ai/executions/${operationId}/ag-ui-stream`
  }
  for (const [what, pathOf] of Object.entries(budgetOf)) {
    it.effect(`of ${what} is cut once more waits for it than the budget, and another one goes on`, () =>
      Effect.gen(function* () {
        const { key, operationId } = yield* accepted
        const { open } = yield* Streams
        const reader = yield* open(operationId, { key })
        const frames = yield* Effect.forkScoped(Effect.promise(reader.rest))
        const idle = yield* connections
        yield* deafClient(pathOf(operationId), key)
        yield* until(Effect.map(connections, (count) => count === idle + 1))
        yield* enter(operationId, "running")
        const large = "x".repeat(500_000)
        // More than the connection's own buffers hold.
        for (let count = 0; count < 24; count++) yield* append(operationId, "withdrawn", { large })
        yield* until(Effect.map(connections, (count) => count === idle))
        yield* enter(operationId, "failed", "the chain said no")
        const read = yield* Fiber.join(frames)
        assert.lengthOf(read, 28)
        assert.strictEqual(read.at(-1)?.event, "execution.error")
      })
    )
  }

  it.effect("is not cut while what waits for it is less, and hears all of it when it reads again", () =>
    Effect.gen(function* () {
      const { key, operationId } = yield* accepted
      const socket = yield* deafClient(streamPath(operationId), key, "0-0")
      yield* enter(operationId, "running")
      for (let count = 0; count < 50; count++) yield* append(operationId, "withdrawn", { large: "x".repeat(1_000) })
      yield* Effect.sleep(Duration.times(byBytes.grace, 2))
      yield* enter(operationId, "failed", "the chain said no")
      const text = yield* Effect.promise(async () => {
        let heard = ""
        socket.setEncoding("utf8").resume()
        for await (const chunk of socket) {
          heard += chunk
          if (heard.includes("event: execution.error")) break
        }
        return heard
      })
      assert.lengthOf(text.match(/event: execution\.timeline_appended/gu)!, 50)
    })
  )
})

// The client that reads shares its process with the server, so both need time.
layer(streamingApi({ budget: 100_000_000, timeout: Duration.seconds(3) }), { excludeTestServices: true })(
  "a client that reads nothing for too long",
  (it) => {
    it.effect("is cut although little waits for it", () =>
      Effect.gen(function* () {
        const { key, operationId } = yield* accepted
        const idle = yield* connections
        yield* deafClient(streamPath(operationId), key)
        yield* until(Effect.map(connections, (count) => count === idle + 1))
        for (let count = 0; count < 24; count++) yield* append(operationId, "withdrawn", { large: "x".repeat(500_000) })
        yield* until(Effect.map(connections, (count) => count === idle))
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
