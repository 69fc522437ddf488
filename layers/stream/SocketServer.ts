/**
 * Serves the worker on one port: its routes by Effect's handler, its sockets by `ws`.
 *
 * Frames are written to the connection as they are, many at a time and the same bytes for all sockets; `ws` does the
 * handshake, reads what clients send, answers pings and closes in order.
 */
import { NodeHttpServer } from "@effect/platform-node"
import { ByteSize, Duration, Effect, Exit, Layer, type Scope } from "effect"
import { HttpIncomingMessage, HttpMiddleware, HttpRouter, UrlParams } from "effect/http"
import { createServer, type IncomingMessage, type Server } from "node:http"
import type { Socket } from "node:net"
import type { Duplex } from "node:stream"
import { WebSocketServer } from "ws"
import { closeCodes } from "#domain/stream/Frame.ts"
import { peerAddress } from "#domain/stream/peerAddress.ts"
import { SocketGate, type StreamRefusal } from "#domain/stream/SocketGate.ts"
import { TrustedProxies } from "#domain/stream/TrustedProxies.ts"
import { WorkerSettings } from "#domain/stream/WorkerSettings.ts"
import { StreamSocket } from "#layers/stream/StreamSocket.ts"

export interface SocketServerOptions {
  readonly host: string
  readonly port: number
  readonly heartbeat: Duration.Duration
}

/** A client sends pings at most. */
const longestMessage = 1_024
/** Time after a stop at which sockets that do not answer the close are cut. */
const closeLimit = Duration.seconds(2)

const refuse = (socket: Duplex, { error, message, retryAfterSeconds, status }: StreamRefusal) => {
  const body = JSON.stringify({ error, message })
  const head = [
    `HTTP/1.1 ${status} ${error}`,
    "connection: close",
    "content-type: application/json",
    `content-length: ${Buffer.byteLength(body)}`,
    ...(retryAfterSeconds === undefined ? [] : [`retry-after: ${retryAfterSeconds}`])
  ]
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`)
}

const listen = (server: Server, { host, port }: SocketServerOptions) =>
  Effect.callback<void, Error>((resume) => {
    const failed = (error: Error) => resume(Effect.fail(error))
    server.once("error", failed)
    server.listen({ host, port, backlog: 4_096 }, () => {
      server.off("error", failed)
      resume(Effect.void)
    })
  })

export const SocketServer = <E, R>(routes: Layer.Layer<never, E, R>, options: SocketServerOptions) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const gate = yield* SocketGate
      const proxies = yield* TrustedProxies
      const { allowedOrigins } = yield* WorkerSettings
      const context = yield* Effect.context<Scope.Scope>()
      const sockets = new Set<StreamSocket>()
      const acceptor = new WebSocketServer({
        noServer: true,
        clientTracking: false,
        perMessageDeflate: false,
        maxPayload: longestMessage
      })

      const upgrade = (request: IncomingMessage, duplex: Duplex, head: Buffer) => {
        const connection = duplex as Socket
        const cut = () => connection.destroy()
        connection.on("error", cut)
        const url = new URL(request.url ?? "/", "http://worker")
        const forwarded = request.headers["x-forwarded-for"]
        const admitted = gate.admit({
          path: url.pathname,
          query: url.searchParams,
          origin: request.headers.origin,
          address: peerAddress(connection.remoteAddress, forwarded?.toString(), proxies)
        })
        const answer = (exit: Exit.Exit<Effect.Success<typeof admitted>, StreamRefusal>) => {
          if (Exit.isFailure(exit)) {
            const [failure] = exit.cause.reasons
            return failure?._tag === "Fail" ? refuse(connection, failure.error) : connection.destroy()
          }
          acceptor.handleUpgrade(request, connection, head, (webSocket) => {
            connection.off("error", cut)
            connection.setNoDelay(true)
            new StreamSocket(webSocket, connection, sockets).begin(exit.value)
          })
        }
        Effect.runForkWith(context)(admitted).addObserver(answer)
      }

      const cors = HttpMiddleware.cors({
        ...(allowedOrigins === null ? {} : { allowedOrigins: (origin: string) => allowedOrigins.includes(origin) }),
        allowedMethods: ["GET", "POST"],
        allowedHeaders: ["content-type"],
        maxAge: 600
      })
      const http = yield* HttpRouter.toHttpEffect(routes)
      const handler = yield* NodeHttpServer.makeHandler(cors(http), { scope: yield* Effect.scope })
      const server = createServer({ keepAliveTimeout: 5_000 })
      server.on("request", handler)
      server.on("upgrade", upgrade)

      const heartbeats = setInterval(() => {
        for (const socket of sockets) socket.heartbeat()
        gate.heartbeat()
      }, Duration.toMillis(options.heartbeat))

      yield* Effect.addFinalizer(() =>
        Effect.callback<void>((resume) => {
          clearInterval(heartbeats)
          for (const socket of sockets) socket.close(closeCodes.goingAway)
          const end = setTimeout(() => {
            for (const socket of sockets) socket.cut()
            server.closeAllConnections()
          }, Duration.toMillis(closeLimit))
          server.close(() => {
            clearTimeout(end)
            resume(Effect.void)
          })
          server.closeIdleConnections()
        })
      )
      yield* Effect.orDie(listen(server, options))
    })
  ).pipe(
    Layer.provide(
      Layer.mergeAll(
        // Tokens of tickets are no part of traces and errors.
        Layer.succeed(UrlParams.CurrentRedactedNames, ["token"]),
        Layer.succeed(HttpIncomingMessage.MaxBodySize, ByteSize.fromInputUnsafe("1 MiB")),
        Layer.succeed(HttpRouter.RouterConfig, {
          caseSensitive: true,
          ignoreTrailingSlash: false,
          ignoreDuplicateSlashes: false,
          maxParamLength: 200
        })
      )
    )
  )
