/**
 * Effect's RPC over HTTP, where one request may contain several calls, a line each: the first is the request, which the
 * server has counted; each further one counts as much. When they are too many none of them runs.
 */
import { Clock, Context, Effect, identity, Layer, Option, Stream } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { RpcServer } from "effect/rpc"
import { clientAddress } from "#domain/values/clientAddress.ts"
import { tooMany } from "#domain/effects/fixedWindows.ts"
import { ShutdownState } from "#http/ShutdownState.ts"
import { boundedBody } from "#http/streaming/boundedBody.ts"
import { streamHeaders } from "#http/streaming/streamHeaders.ts"
import { StreamTiming } from "#http/streaming/StreamTiming.ts"
import { AnswerSettings } from "#domain/request/AnswerSettings.ts"
import { RateLimits } from "#domain/request/RateLimits.ts"
import { failure, textOf } from "#rpc/jsonWire.ts"
import { mediaTypeProblem } from "#rpc/input/mediaType.ts"
import { bareRequest, withOuterHeaders, OuterRequest } from "#rpc/native/OuterRequest.ts"
import { callsIn } from "#rpc/native/messages.ts"

/**
 * Messages of an answer that wait for its body to be read; beyond it a call that answers waits. The library begins with
 * the body when all calls have begun, so nothing but calls may answer: one of them that did so while it begins would
 * wait for ever (`NativeServer.ts` makes calls of all).
 */
const streamBufferSize = 16

export const countedProtocol = (path: HttpRouter.PathInput) =>
  Layer.effect(
    RpcServer.Protocol,
    Effect.gen(function* () {
      const limits = yield* RateLimits
      const closing = yield* ShutdownState
      const timing = yield* StreamTiming
      const { maxCalls } = yield* AnswerSettings
      const router = yield* HttpRouter.HttpRouter
      const { httpEffect, protocol } = yield* RpcServer.makeProtocolWithHttpEffect({ streamBufferSize })

      /** Counts the calls behind the first. */
      const count = Effect.fnUntraced(function* (calls: number, request: HttpServerRequest.HttpServerRequest) {
        const address = clientAddress(Option.getOrUndefined(request.remoteAddress))
        for (let call = 1; call < calls; call += 1) {
          const allowance = yield* limits.arrive(address)
          if (allowance.isExceeded) return yield* tooMany(allowance, yield* Clock.currentTimeMillis)
        }
      })

      /** An answer that goes on waits for its client within the same bounds as events do. */
      const bounded = Effect.flatMap(httpEffect, (response) =>
        Effect.withFiber((fiber) => {
          const { body } = response
          // Some calls are answered with a session's token, whoever asked.
          if (body._tag !== "Stream")
            return Effect.succeed(HttpServerResponse.setHeader(response, "cache-control", "private, no-store"))
          const source = { stream: Stream.orDie(body.stream), bytesOf: identity<Uint8Array> }
          const { contentType } = body
          return Effect.succeed(
            HttpServerResponse.stream(boundedBody(source, { request: fiber, timing, closing }), {
              contentType,
              headers: streamHeaders
            })
          )
        })
      )

      const serve = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
        const text = yield* textOf(request)
        const problem = mediaTypeProblem(request.headers, text)
        if (problem !== undefined) return failure(problem, undefined, 415)
        const calls = yield* callsIn(text, maxCalls)
        yield* count(calls.length, request)
        // The library reads no line that does not end.
        const body = Effect.succeed(calls.map((call) => `${call}\n`).join(""))
        return yield* Effect.provideContext(
          bounded,
          Context.make(OuterRequest, request).pipe(
            Context.add(HttpServerRequest.HttpServerRequest, bareRequest(request, { text: body }))
          )
        )
      })

      yield* router.add(
        "POST",
        path,
        Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
          Effect.catch(serve(request), (error) => Effect.succeed(failure(error)))
        )
      )

      return {
        ...protocol,
        run: (f) =>
          protocol.run((clientId, message) =>
            message._tag === "Request"
              ? Effect.flatMap(withOuterHeaders(message) as Effect.Effect<typeof message>, (call) => f(clientId, call))
              : f(clientId, message)
          )
      }
    })
  )
