/** Sockets of the API, over Node's connections. */
import { NodeHttpServerRequest } from "@effect/platform-node"
import { Effect, Layer } from "effect"
import type { HttpServerRequest } from "effect/http"
import { SocketPlatform } from "#rpc/native/SocketPlatform.ts"

const connection = (request: HttpServerRequest.HttpServerRequest) =>
  NodeHttpServerRequest.toIncomingMessage(request).socket

export const socketPlatform = Layer.succeed(SocketPlatform, {
  waiting: (request) => connection(request).writableLength,
  cut: (request) => Effect.sync(() => void connection(request).destroy())
})
