/** Tests that, without a tracer, work inside a request belongs to the trace that the client receives. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { HttpRouter, HttpServer, HttpServerResponse } from "effect/http"
import { RequestContextLive } from "#http/serving/RequestContextLive.ts"
import { RateLimits } from "#domain/request/RateLimits.ts"
import { RateLimitSettings } from "#domain/request/RateLimitSettings.ts"
import { RequestIds } from "#http/serving/RequestIds.ts"
import { RequestLog } from "#http/serving/RequestLog.ts"
import { nothingRefused } from "#test/support/nothingRefused.ts"

const traceOfWork = Effect.withSpan(
  Effect.map(Effect.orDie(Effect.currentSpan), ({ traceId }) => HttpServerResponse.text(traceId)),
  "work"
)

const probe = HttpRouter.add("GET", "/probe", traceOfWork).pipe(
  Layer.provide(RequestContextLive),
  Layer.provide([RateLimits.layerMemory, RequestIds.layer, RequestLog.layer.pipe(Layer.provide(nothingRefused))]),
  Layer.provide(Layer.succeed(RateLimitSettings, { global: 100, critical: 100, general: 100, burst: 100 })),
  Layer.provide([SecureRandom.layerWebCrypto, HttpServer.layerServices])
)

describe("correlation", () => {
  it.live("is the trace id of the work, whether the caller sent one or not", () =>
    Effect.promise(async () => {
      const { handler, dispose } = HttpRouter.toWebHandler(probe, { disableLogger: true })
      const sent = "4bf92f3577b34da6a3ce929d0e0e4736"
      for (const headers of [{}, { traceparent: `00-${sent}-00f067aa0ba902b7-01` }]) {
        const response = await handler(new Request("http://api.test/probe", { headers }))
        const trace = await response.text()
        assert.strictEqual(response.headers.get("x-correlation-id"), trace)
        if ("traceparent" in headers) assert.strictEqual(trace, sent)
      }
      await dispose()
    })
  )
})
