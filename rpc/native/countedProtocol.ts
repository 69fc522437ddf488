/**
 * Effect's RPC over HTTP, where one request may carry many calls, a line each: the first is the request, which the
 * server has counted; each further one counts as much. When they are too many none of them runs.
 */
import { Clock, Effect, identity, Layer, Option, Stream } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { RpcServer } from "effect/rpc"
import { clientAddress } from "#domain/clientAddress.ts"
import { tooMany } from "#domain/fixedWindows.ts"
import { ShutdownState } from "#http/ShutdownState.ts"
import { boundedBody } from "#http/streaming/boundedBody.ts"
import { StreamTiming } from "#http/streaming/StreamTiming.ts"
import { RateLimits } from "#domain/request/RateLimits.ts"
import { ClientProcedures } from "#rpc/ClientProcedures.ts"
import { failure } from "#rpc/jsonWire.ts"
import { refusingInvalid } from "#rpc/native/refusingInvalid.ts"

const linesIn = (text: string): number => {
  let lines = 0
  for (const line of text.split("\n")) if (line.trim() !== "") lines += 1
  return lines
}

export const countedProtocol = (path: HttpRouter.PathInput) =>
  Layer.effect(
    RpcServer.Protocol,
    Effect.gen(function* () {
      const limits = yield* RateLimits
      const closing = yield* ShutdownState
      const timing = yield* StreamTiming
      const router = yield* HttpRouter.HttpRouter
      const { httpEffect, protocol } = yield* RpcServer.makeProtocolWithHttpEffect()

      /** The refusal of the calls behind the first, or nothing. */
      const refusal = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
        // A body that cannot be read is the protocol's to answer.
        const calls = linesIn(yield* Effect.orElseSucceed(request.text, () => ""))
        const address = clientAddress(Option.getOrUndefined(request.remoteAddress))
        for (let call = 1; call < calls; call += 1) {
          const allowance = yield* limits.arrive(address)
          if (!allowance.isExceeded) continue
          return failure(tooMany(allowance, yield* Clock.currentTimeMillis))
        }
        return undefined
      })

      /** An answer that goes on waits for its client within the same bounds as events do. */
      const bounded = Effect.flatMap(httpEffect, (response) =>
        Effect.withFiber((fiber) => {
          const { body } = response
          if (body._tag !== "Stream") return Effect.succeed(response)
          const source = { stream: Stream.orDie(body.stream), bytesOf: identity<Uint8Array> }
          const { contentType } = body
          return Effect.succeed(
            HttpServerResponse.stream(boundedBody(source, { request: fiber, timing, closing }), {
              contentType,
              headers: { "cache-control": "no-cache, no-transform", "x-accel-buffering": "no" }
            })
          )
        })
      )

      yield* router.add(
        "POST",
        path,
        Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
          Effect.flatMap(refusal(request), (refused) => (refused === undefined ? bounded : Effect.succeed(refused)))
        )
      )
      return yield* refusingInvalid(ClientProcedures, protocol)
    })
  )
