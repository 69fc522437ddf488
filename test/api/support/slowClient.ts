/** A client that asks for a stream and never reads, as a real connection. */
import { assert } from "@effect/vitest"
import { Effect, Fiber, Schedule } from "effect"
import { once } from "node:events"
import { connect, type Socket } from "node:net"
import type { OperationId } from "#domain/values/Ids.ts"
import { accepted, append, enter, Streams } from "#test/api/support/StreamingApi.ts"

export const until = <E, R>(isTrue: Effect.Effect<boolean, E, R>) =>
  Effect.repeat(isTrue, { until: (yes) => yes, schedule: Schedule.spaced("20 millis") })

/** Asks for a stream from its beginning and never reads; `cut` waits until the server has ended the connection. */
export const slowClient = Effect.fnUntraced(function* (path: string, key: string) {
  const { isConnected, url } = yield* Streams
  const { hostname, port } = new URL(url("x"))
  const socket = yield* Effect.acquireRelease(
    Effect.promise(async (): Promise<Socket> => {
      const connecting = connect({ host: hostname, port: Number(port) })
      connecting.on("error", () => {})
      connecting.pause()
      await once(connecting, "connect")
      connecting.write(`GET ${path} HTTP/1.1\r\nhost: x\r\nx-api-key: ${key}\r\nlast-event-id: 0-0\r\n\r\n`)
      return connecting
    }),
    (open) => Effect.sync(() => open.destroy())
  )
  // A socket that does not read hears of no end, so the server is asked.
  const connected = Effect.sync(() => isConnected(socket.localPort!))
  yield* until(connected)
  return { socket, cut: until(Effect.map(connected, (yes) => !yes)) }
})

/** More than the connection's own buffers hold. */
export const appendMuch = Effect.fnUntraced(function* (operationId: OperationId) {
  const large = "x".repeat(500_000)
  for (let count = 0; count < 24; count++) yield* append(operationId, "withdrawn", { large })
})

/** Runs two clients of which one does not read: it is disconnected, and the other one gets everything. */
export const cutByBytes = Effect.fnUntraced(function* (pathOf: (operationId: string) => string) {
  const { key, operationId } = yield* accepted
  const { open } = yield* Streams
  const reader = yield* open(operationId, { key })
  const frames = yield* Effect.forkScoped(Effect.promise(reader.rest))
  const { cut } = yield* slowClient(pathOf(operationId), key)
  yield* enter(operationId, "running")
  yield* appendMuch(operationId)
  yield* cut
  yield* enter(operationId, "failed", "the chain said no")
  const read = yield* Fiber.join(frames)
  assert.lengthOf(read, 28)
  assert.strictEqual(read.at(-1)?.event, "execution.error")
})
