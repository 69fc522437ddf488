/**
 * The outermost middleware, around every route and around what no route answers: tracing ids, the limit of requests an
 * address may make, an envelope where the library answers bare, headers, metrics and the access log.
 *
 * It runs for each request, so it takes one context entry and one pre-response handler, and nothing that yields.
 */
import { Clock, Context, DateTime, Effect, Option, Tracer } from "effect"
import { HttpEffect, HttpRouter, HttpServerRequest, HttpServerResponse, HttpTraceContext } from "effect/http"
import { RateLimited } from "#domain/Errors.ts"
import { errorResponse } from "#http/errorResponse.ts"
import { clientAddress } from "#http/middleware/clientAddress.ts"
import { Exchange } from "#http/middleware/Exchange.ts"
import { fallbackError } from "#http/middleware/fallbackError.ts"
import { type Allowance, RateLimits } from "#http/middleware/RateLimits.ts"
import { RequestIds } from "#http/middleware/RequestIds.ts"
import { RequestLog } from "#http/middleware/RequestLog.ts"

/** Probes come from the machine beside the service and must not be turned away. */
const isUncounted = (path: string) => path.startsWith("/health/")

const pathOf = (request: HttpServerRequest.HttpServerRequest): string => {
  const end = request.url.indexOf("?")
  return end === -1 ? request.url : request.url.slice(0, end)
}

/** In pairs, which the library copies into a response at half the price of a record. */
const headersOf = ({ allowance, correlationId, requestId }: Exchange["Service"]): Array<readonly [string, string]> => {
  const headers: Array<readonly [string, string]> = [
    ["x-correlation-id", correlationId],
    ["x-request-id", requestId]
  ]
  if (allowance !== undefined) {
    headers.push(
      ["x-ratelimit-limit", String(allowance.limit)],
      ["x-ratelimit-remaining", String(allowance.remaining)],
      ["x-ratelimit-reset", String(Math.ceil(allowance.resetAt / 1000))]
    )
  }
  return headers
}

const isBare = (response: HttpServerResponse.HttpServerResponse): boolean =>
  response.status >= 400 &&
  (response.body._tag === "Empty" || response.headers["content-type"]?.startsWith("text/plain") === true)

/** The error of a request that its limit refuses. */
export const tooMany = (allowance: Allowance, nowMs: number): RateLimited => {
  const retryAfterSeconds = Math.max(1, Math.ceil((allowance.resetAt - nowMs) / 1000))
  return new RateLimited({
    message: `More than ${allowance.limit} requests in a minute; retry in ${retryAfterSeconds} s`,
    retryAfterSeconds
  })
}

export const ExchangeLive = HttpRouter.middleware<{ provides: Exchange }>()(
  Effect.gen(function* () {
    const ids = yield* RequestIds
    const limits = yield* RateLimits
    const clock = yield* Clock.Clock
    const log = yield* RequestLog

    const now = () => DateTime.makeUnsafe(clock.currentTimeMillisUnsafe())

    const correlationId = (request: HttpServerRequest.HttpServerRequest, traceId: string | undefined): string => {
      if (traceId !== undefined) return traceId
      if (request.headers["traceparent"] === undefined) return ids.next()
      return Option.match(HttpTraceContext.w3c(request.headers), { onNone: ids.next, onSome: (span) => span.traceId })
    }

    /** The envelope in place of an answer that the library left bare. */
    const explained = (
      exchange: Exchange["Service"],
      request: HttpServerRequest.HttpServerRequest,
      bare: HttpServerResponse.HttpServerResponse
    ): HttpServerResponse.HttpServerResponse => {
      const path = pathOf(request)
      const error = fallbackError(bare.status, request.method, path)
      if (error === undefined) return bare
      const whole = errorResponse(error, { path, exchange, now: now(), status: statusOf(bare.status) })
      const closing = bare.headers["connection"]
      return closing === undefined ? whole : HttpServerResponse.setHeader(whole, "connection", closing)
    }

    const answer =
      (exchange: Exchange["Service"]) =>
      (request: HttpServerRequest.HttpServerRequest, response: HttpServerResponse.HttpServerResponse) => {
        const whole = isBare(response) ? explained(exchange, request, response) : response
        const sent = HttpServerResponse.setHeaders(whole, headersOf(exchange))
        return Effect.mapEager(log.answered(request, sent, exchange), () => sent)
      }

    return (httpEffect) => {
      const routed = httpEffect as Effect.Effect<HttpServerResponse.HttpServerResponse, Effect.Error<typeof httpEffect>>

      return Effect.withFiber((fiber) => {
        const request = Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest)
        const exchange: Exchange["Service"] = {
          correlationId: correlationId(request, fiber.cache.span?.traceId),
          requestId: ids.next(),
          address: clientAddress(Option.getOrUndefined(request.remoteAddress)),
          startedAt: clock.monotonicTimeNanosUnsafe(),
          allowance: undefined
        }
        HttpEffect.appendPreResponseHandlerUnsafe(fiber.context, answer(exchange))
        // Set, not provided: the request's root restores the context, and until then the answer above still sees the route.
        // The type above says that this has been done.
        const context = Context.add(fiber.context, Exchange, exchange)
        fiber.setContext(
          fiber.cache.span === undefined ? Context.add(context, Tracer.ParentSpan, callerOf(exchange)) : context
        )
        if (isUncounted(request.url)) return routed
        return Effect.flatMapEager(limits.consume(exchange.address, "global"), (allowance) => {
          exchange.allowance = allowance
          if (!allowance.isExceeded) return routed
          const error = tooMany(allowance, clock.currentTimeMillisUnsafe())
          return Effect.succeed(errorResponse(error, { path: request.url, exchange, now: now() }))
        })
      })
    }
  }),
  { global: true }
)

/** Where no tracer opened a span, the caller stands for it, so that logs and launched work still share the correlation id. */
const callerOf = ({ correlationId, requestId }: Exchange["Service"]) =>
  Tracer.externalSpan({ traceId: correlationId, spanId: requestId.slice(0, 16), sampled: false })

/** An unsupported content type is one more way of an invalid request; every other bare status stays what it is. */
const statusOf = (bare: number): number => (bare === 415 ? 400 : bare)
