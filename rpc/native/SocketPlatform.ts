/** Port: what only the platform knows of the connection under a socket. */
import { Context, type Effect } from "effect"
import type { HttpServerRequest } from "effect/http"

export class SocketPlatform extends Context.Service<
  SocketPlatform,
  {
    /** Bytes that were written and that the client has not taken yet. */
    readonly waiting: (request: HttpServerRequest.HttpServerRequest) => number
    /** Ends the connection at once, without a word. */
    readonly cut: (request: HttpServerRequest.HttpServerRequest) => Effect.Effect<void>
  }
>()("ballast/rpc/SocketPlatform") {}
