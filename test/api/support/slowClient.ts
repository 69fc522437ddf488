/** A client that asks for a stream and never reads, as a real connection. */
import { assert } from "@effect/vitest"
import { Effect, Fiber, Schedule } from "effect"
import { once } from "node:events"
import { connect, type Socket } from "node:net"
import type { OperationId } from "#domain/Ids.ts"
import { accepted, append, enter, Streams } from "#test/api/support/StreamingApi.ts"

export const connections = Effect.flatMap(Streams, ({ server }) =>
  Effect.callback<number>((resume) => {
    server.getConnections((_, count) => resume(Effect.succeed(count)))
  })
)

export const until = <E, R>(isTrue: Effect.Effect<boolean, E, R>) =>
  Effect.repeat(isTrue, { until: (yes) => yes, schedule: Schedule.spaced("20 millis") })

/** A connection that asks for the stream and never reads. */
export const slowClient = (path: string, key: string, lastEventId?: string) =>
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

/** More than the connection's own buffers hold. */
export const appendMuch = Effect.fnUntraced(function* (operationId: OperationId) {
  const large = "x".repeat(500_000)
  for (let count = 0; count < 24; count++) yield* append(operationId, "withdrawn", { large })
})

/** Of two clients one does not read: it is disconnected, and the other one gets everything. */
export const cutByBytes = Effect.fnUntraced(function* (pathOf: (operationId: string) => string) {
  const { key, operationId } = yield* accepted
  const { open } = yield* Streams
  const reader = yield* open(operationId, { key })
  const frames = yield* Effect.forkScoped(Effect.promise(reader.rest))
  const idle = yield* connections
  yield* slowClient(pathOf(operationId), key)
  yield* until(Effect.map(connections, (count) => count === idle + 1))
  yield* enter(operationId, "running")
  yield* appendMuch(operationId)
  yield* until(Effect.map(connections, (count) => count === idle))
  yield* enter(operationId, "failed", "the chain said no")
  const read = yield* Fiber.join(frames)
  assert.lengthOf(read, 28)
  assert.strictEqual(read.at(-1)?.event, "execution.error")
})
