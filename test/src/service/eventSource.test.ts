/**
 * `EventSource`, as in browsers and in the package of that name, over restarts of the process that serves it: it comes
 * back by itself, from where it was, and is given each event once.
 */
import { assert, layer } from "@effect/vitest"
import { Effect, Latch } from "effect"
import { EventSource } from "eventsource"
import { once } from "node:events"
import { request as forward, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { startingServer } from "#src/service/startingServer.ts"
import { accepted, enter, streamingApi, Streams } from "#test/api/support/StreamingApi.ts"

/** A process that serves what the API at `origin` does; `attach` ends its start. */
const starting = async (port: number) => {
  const server = startingServer({ maxConnections: 100, keepAliveSeconds: 75 })().listen(port, "127.0.0.1")
  await once(server, "listening")
  const attach = (origin: string) =>
    server.on("request", (incoming, outgoing) => {
      const sent = forward(`${origin}${incoming.url}`, { headers: incoming.headers }, (answer) => {
        outgoing.writeHead(answer.statusCode ?? 500, answer.headers)
        answer.pipe(outgoing)
      })
      outgoing.on("close", () => sent.destroy())
      sent.on("error", () => outgoing.destroy())
      sent.end()
    })
  return { server, attach, port: (server.address() as AddressInfo).port }
}

/** Stops a server as a process is killed: connections break in the middle. */
const stop = async (server: Server) => {
  const closed = once(server, "close")
  server.close()
  server.closeAllConnections()
  await closed
}

layer(streamingApi(), { excludeTestServices: true })("an EventSource", (it) => {
  it.effect("whose process restarts before any event, and again after one, is given each event once", () =>
    Effect.gen(function* () {
      const { key, operationId } = yield* accepted
      const { origin } = new URL((yield* Streams).url("x"))
      let running = yield* Effect.promise(() => starting(0))
      running.attach(origin)
      const { port } = running
      yield* Effect.addFinalizer(() => Effect.promise(() => stop(running.server)))

      const opened = yield* Latch.make()
      const seen: Array<string> = []
      let heard = yield* Latch.make()
      const source = yield* Effect.acquireRelease(
        Effect.sync(
          () =>
            new EventSource(`http://127.0.0.1:${port}/v2/events/stream`, {
              fetch: (url, init) => fetch(url, { ...init, headers: { ...init.headers, "x-api-key": key } })
            })
        ),
        (one) => Effect.sync(() => one.close())
      )
      source.addEventListener("stream.opened", () => opened.openUnsafe())
      source.addEventListener("operation.state_changed", ({ data }) => {
        seen.push(JSON.parse(data).data.state)
        heard.openUnsafe()
      })

      /** What happens while nobody listens, and a start during which the client asks. */
      const restart = (meanwhile: Effect.Effect<void, never, Effect.Services<ReturnType<typeof enter>>>) =>
        Effect.gen(function* () {
          yield* Effect.promise(() => stop(running.server))
          heard = yield* Latch.make()
          yield* meanwhile
          running = yield* Effect.promise(() => starting(port))
          yield* Effect.promise(() => once(running.server, "connection"))
          assert.strictEqual(source.readyState, source.CONNECTING)
          running.attach(origin)
          yield* heard.await
        })

      yield* opened.await
      yield* restart(enter(operationId, "running"))
      assert.deepStrictEqual(seen, ["running"])
      yield* restart(enter(operationId, "completed"))
      assert.deepStrictEqual(seen, ["running", "completed"])
      assert.strictEqual(source.readyState, source.OPEN)
    }).pipe(Effect.scoped)
  )
})
