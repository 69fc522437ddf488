/** Port: admits clients to sockets, and what happens on one. `stream/` keeps it, the WebSocket server calls it. */
import { Context, type Effect, Schema } from "effect"
import type { Outlet, StreamSession } from "#domain/stream/Outlet.ts"

export interface Handshake {
  readonly path: string
  readonly query: URLSearchParams
  readonly origin: string | undefined
  /** The address that the client is counted under. */
  readonly address: string
}

/** A request that is answered with an error of the worker: `{error, message}` and a status. */
export class StreamRefusal extends Schema.TaggedError<StreamRefusal>()("StreamRefusal", {
  status: Schema.Int,
  error: Schema.String,
  message: Schema.String,
  retryAfterSeconds: Schema.optionalKey(Schema.Int)
}) {}

/**
 * Admits clients to sockets, and what happens on one.
 *
 * **When to use**
 *
 * Use in the WebSocket server of the market-data worker.
 */
export class SocketGate extends Context.Service<
  SocketGate,
  {
    /** Checks a handshake; the returned function begins the session once the socket is open. */
    readonly admit: (handshake: Handshake) => Effect.Effect<(outlet: Outlet) => StreamSession, StreamRefusal>
    /** Sends a heartbeat to every client that is up to date. */
    readonly heartbeat: () => void
  }
>()("ballast/domain/stream/SocketGate") {}
