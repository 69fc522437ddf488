/**
 * One open socket. It has no timers of its own and its listeners are shared, since tens of thousands of them are idle
 * most of the time.
 */
import { Effect, Metric } from "effect"
import type { Socket } from "node:net"
import type { RawData, WebSocket } from "ws"
import type { CloseReason } from "#domain/stream/Frame.ts"
import type { Outlet, StreamSession } from "#domain/stream/Outlet.ts"
import * as Metrics from "#domain/stream/WorkerMetrics.ts"

const owner = Symbol("StreamSocket")
type Owned = WebSocket & { [owner]: StreamSocket }

function received(this: WebSocket, data: RawData) {
  ;(this as Owned)[owner].session?.received(data.toString())
}
function ponged(this: WebSocket) {
  ;(this as Owned)[owner].isAlive = true
}
function closed(this: WebSocket) {
  ;(this as Owned)[owner].ended()
}
/** `ws` itself closes the socket after an error. */
const ignored = () => {}

export class StreamSocket implements Outlet {
  session: StreamSession | undefined
  isAlive = true
  readonly #webSocket: WebSocket
  readonly #connection: Socket
  readonly #all: Set<StreamSocket>

  constructor(webSocket: WebSocket, connection: Socket, all: Set<StreamSocket>) {
    this.#webSocket = webSocket
    this.#connection = connection
    this.#all = all
    all.add(this)
    ;(webSocket as Owned)[owner] = this
    webSocket.on("message", received).on("pong", ponged).on("close", closed).on("error", ignored)
  }

  begin(session: (outlet: Outlet) => StreamSession): void {
    this.session = session(this)
  }

  write(frames: Uint8Array): void {
    if (this.#webSocket.readyState === this.#webSocket.OPEN) this.#connection.write(frames)
  }

  pendingBytes(): number {
    return this.#connection.writableLength
  }

  whenDrained(go: () => void): void {
    if (this.#connection.writableNeedDrain) this.#connection.once("drain", go)
    else setImmediate(go)
  }

  close({ code, reason }: CloseReason): void {
    Effect.runSync(Metric.update(Metric.withAttributes(Metrics.closedSockets, { code: `${code}` }), 1))
    this.#webSocket.close(code, reason)
  }

  /** Cuts the connection at once. */
  cut(): void {
    this.#webSocket.terminate()
  }

  /** A client that has not answered since the last heartbeat is gone, or does not read. */
  heartbeat(): void {
    if (!this.isAlive) return this.cut()
    this.isAlive = false
    this.#webSocket.ping()
  }

  ended(): void {
    this.#all.delete(this)
    this.session?.ended()
    this.session = undefined
  }
}
