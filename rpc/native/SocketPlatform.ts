/** Port: what only the platform has of the connection under a socket. */
import { Context, type Effect } from "effect"
import type { HttpServerRequest } from "effect/http"

export class SocketPlatform extends Context.Service<
  SocketPlatform,
  {
    /** Bytes that were written and that the client has not taken yet. */
    readonly waiting: (request: HttpServerRequest.HttpServerRequest) => number
    /** Ends the connection immediately, without a close frame. */
    readonly cut: (request: HttpServerRequest.HttpServerRequest) => Effect.Effect<void>
  }
>()("ballast/rpc/SocketPlatform") {}
