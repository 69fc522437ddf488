/**
 * Effect's RPC over a WebSocket, at the path of its HTTP requests: one frame for each message, JSON. The client
 * presents a key or a wallet session, and each call is checked again by its own middleware; each call counts as a
 * request, and each open socket as a stream.
 */
import { Clock, Context, Effect, Layer, Option } from "effect"
import { HttpRouter, HttpServerRequest } from "effect/http"
import { type RpcMessage, RpcSerialization, RpcServer } from "effect/rpc"
import { Socket } from "effect/socket"
import { clientAddress } from "#domain/values/clientAddress.ts"
import { ValidationFailed } from "#domain/errors/Errors.ts"
import { ExecutionReaders } from "#domain/execution/ExecutionReaders.ts"
import { StreamAdmission } from "#domain/execution/StreamAdmission.ts"
import { tooMany } from "#domain/effects/fixedWindows.ts"
import { ShutdownState } from "#http/ShutdownState.ts"
import { StreamTiming } from "#http/streaming/StreamTiming.ts"
import { boundedSocket, closeCodes } from "#rpc/native/boundedSocket.ts"
import { AnswerSettings } from "#domain/request/AnswerSettings.ts"
import { RateLimits } from "#domain/request/RateLimits.ts"
import { RequestContext } from "#domain/request/RequestContext.ts"
import { CallLog } from "#rpc/CallLog.ts"
import { ClientProcedures } from "#rpc/ClientProcedures.ts"
import { bareRequest, withOuterHeaders, OuterRequest, headersProblem } from "#rpc/native/OuterRequest.ts"
import { makeRefuseCall } from "#rpc/native/refuseCall.ts"
import { failure } from "#rpc/jsonWire.ts"
import { SocketPlatform } from "#rpc/native/SocketPlatform.ts"

/** The request is answered by the upgrade, so nothing waits for its answer any more. */
const answersNoMore = Effect.withFiber<void>((fiber) => {
  Context.getOrUndefined(fiber.context as Context.Context<RequestContext>, RequestContext)?.endWait()
  return Effect.void
})

/** What the server of the sockets is made with: a message may be as long as the body of a request. */
export const socketOptions = { maxPayload: 65_536, perMessageDeflate: false }

/** The socket whose message is read, to end it from where messages are counted. */
class OpenSocket extends Context.Service<
  OpenSocket,
  { readonly address: string; readonly close: (code: number, reason: string) => Effect.Effect<void> }
>()("ballast/rpc/OpenSocket") {}

const isMessage = (value: unknown): boolean =>
  typeof value === "object" && value !== null && "_tag" in value && typeof value._tag === "string"

/** JSON, where a frame is a message or a list of them, not more than a request may contain. */
export const boundedFrames = Layer.effect(
  RpcSerialization.RpcSerialization,
  Effect.map(AnswerSettings, ({ maxCalls }) => {
    const { json } = RpcSerialization
    return RpcSerialization.RpcSerialization.of({
      ...json,
      makeUnsafe: () => {
        const { decode, encode } = json.makeUnsafe()
        return {
          encode,
          decode: (frame) => {
            const messages = decode(frame)
            // What is thrown here the library answers to the client.
            if (messages.length > maxCalls) throw new Error(`A frame contains at most ${maxCalls} messages`)
            if (!messages.every(isMessage)) throw new Error("A frame is a message, or a list of them")
            return messages
          }
        }
      }
    })
  })
)

export const socketProtocol = (path: HttpRouter.PathInput) =>
  Layer.effect(
    RpcServer.Protocol,
    Effect.gen(function* () {
      const readers = yield* ExecutionReaders
      const admission = yield* StreamAdmission
      const limits = yield* RateLimits
      const closing = yield* ShutdownState
      const timing = yield* StreamTiming
      const platform = yield* SocketPlatform
      const log = yield* CallLog
      const router = yield* HttpRouter.HttpRouter
      const { httpEffect, protocol } = yield* RpcServer.makeProtocolWithHttpEffectWebsocket

      const serve = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
        if (request.headers["upgrade"]?.toLowerCase() !== "websocket") {
          return yield* new ValidationFailed({
            message: "GET opens a WebSocket here; calls over HTTP are sent by POST"
          })
        }
        const address = clientAddress(Option.getOrUndefined(request.remoteAddress))
        const permit = yield* admission.enter(yield* readers.identify(request.headers, address))
        const socket = boundedSocket(yield* Effect.orDie(request.upgrade), { request, platform }, timing)
        yield* answersNoMore
        const close = (code: number, reason: string) =>
          Effect.scoped(Effect.flatMap(socket.writer, ({ write }) => write(new Socket.CloseEvent(code, reason)))).pipe(
            Effect.ignore
          )
        const open = Effect.provideContext(
          httpEffect,
          Context.make(OuterRequest, request).pipe(
            Context.add(HttpServerRequest.HttpServerRequest, bareRequest(request, { upgrade: Effect.succeed(socket) })),
            Context.add(OpenSocket, { address, close })
          )
        )
        const ending = Effect.andThen(closing.begun, close(closeCodes.goingAway, "the server is about to end"))
        const refused = Effect.catch(permit.ended, ({ message }) =>
          close(closeCodes.policyViolation, message.slice(0, 120))
        )
        return yield* Effect.raceFirst(open, Effect.andThen(Effect.raceFirst(ending, refused), Effect.never))
      })

      yield* router.add(
        "GET",
        path,
        Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
          Effect.catch(serve(request), (error) => Effect.succeed(failure(error)))
        )
      )

      /** Counts a call as a request of its address; one too many ends the socket, and none of its calls goes on. */
      const counted = Effect.fnUntraced(function* ({ id, tag }: RpcMessage.RequestEncoded) {
        const { address, close } = yield* OpenSocket
        const allowance = yield* limits.arrive(address)
        if (!allowance.isExceeded) return true
        const refusal = tooMany(allowance, yield* Clock.currentTimeMillis)
        yield* log.refused({ procedure: ClientProcedures.requests.has(tag) ? tag : undefined, callId: id }, refusal)
        yield* close(closeCodes.tryAgainLater, refusal.message.slice(0, 120))
        return false
      })

      const refuse = makeRefuseCall(ClientProcedures, protocol)

      type Forward = Parameters<typeof protocol.run>[0]
      const call = Effect.fnUntraced(function* (f: Forward, clientId: number, message: RpcMessage.RequestEncoded) {
        if (!(yield* counted(message))) return
        const problem = headersProblem(message.headers)
        if (problem === undefined) return yield* f(clientId, yield* withOuterHeaders(message))
        const invalid = new ValidationFailed({
          message: "The message is not valid; details name each field",
          details: [problem]
        })
        if (!(yield* refuse(clientId, message, invalid)))
          return yield* f(clientId, yield* withOuterHeaders({ ...message, headers: [] }))
        yield* log.refused({ procedure: message.tag, callId: message.id }, invalid)
      })

      return {
        ...protocol,
        run: (f) =>
          protocol.run((clientId, message) =>
            message._tag === "Request" ? (call(f, clientId, message) as Effect.Effect<void>) : f(clientId, message)
          )
      }
    })
  )
