/**
 * The outermost middleware, around every route and around what no route answers: tracing ids, the limit of requests an
 * address may make, the encodings of bodies, the time that an answer may take, an envelope where the library answers
 * bare, headers, metrics and the access log.
 *
 * It runs for each request, so it takes one context entry and one pre-response handler, and nothing that yields.
 */
import { type Cause, Clock, Context, DateTime, Effect, ErrorReporter, Layer, Option, Tracer } from "effect"
import { HttpEffect, HttpRouter, HttpServerRequest, HttpServerResponse, HttpTraceContext } from "effect/http"
import { errorResponse } from "#http/errorResponse.ts"
import { clientAddress } from "#domain/values/clientAddress.ts"
import type { DomainError } from "#domain/errors/DomainError.ts"
import { AnswerDeadlines, lateAnswer } from "#domain/request/AnswerDeadlines.ts"
import { RequestContext } from "#domain/request/RequestContext.ts"
import { databaseAway, isOfStorage, TransientFault } from "#domain/errors/TransientFault.ts"
import { encodingProblem } from "#http/serving/encodingProblem.ts"
import { fallbackError } from "#http/serving/fallbackError.ts"
import { tooMany } from "#domain/effects/fixedWindows.ts"
import { RateLimits } from "#domain/request/RateLimits.ts"
import { RequestIds } from "#http/serving/RequestIds.ts"
import { methodsOf } from "#http/serving/routeTable.ts"
import { RequestLog } from "#http/serving/RequestLog.ts"
import { retryAfter } from "#http/serving/retryAfter.ts"

/** Probes are counted apart: other requests from the address of a proxy must not make it take the process for dead. */
const countedAs = (url: string, address: string) => (url.startsWith("/health/") ? `probes of ${address}` : address)

const pathOf = (request: HttpServerRequest.HttpServerRequest): string => {
  const end = request.url.indexOf("?")
  return end === -1 ? request.url : request.url.slice(0, end)
}

/** Writes the headers in pairs, which the library copies into a response at half the price of a record. */
const headersOf = ({
  allowance,
  correlationId,
  requestId
}: RequestContext["Service"]): Array<readonly [string, string]> => {
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

/** Caches keep no answer to who says who it is; one that is the same for everybody says so itself. */
const ofCaller = (
  { authorization, cookie, "x-api-key": key }: HttpServerRequest.HttpServerRequest["headers"],
  response: HttpServerResponse.HttpServerResponse
): boolean =>
  (key !== undefined || authorization !== undefined || cookie !== undefined) &&
  response.headers["cache-control"] === undefined

const isBare = (response: HttpServerResponse.HttpServerResponse): boolean =>
  response.status >= 400 &&
  (response.body._tag === "Empty" || response.headers["content-type"]?.startsWith("text/plain") === true)

export const RequestContextLive = HttpRouter.middleware<{ provides: RequestContext }>()(
  Effect.gen(function* () {
    const ids = yield* RequestIds
    const limits = yield* RateLimits
    const isTransient = yield* TransientFault
    const clock = yield* Clock.Clock
    const log = yield* RequestLog
    const deadlines = yield* AnswerDeadlines

    const now = () => DateTime.makeUnsafe(clock.currentTimeMillisUnsafe())

    const correlationId = (request: HttpServerRequest.HttpServerRequest, traceId: string | undefined): string => {
      if (traceId !== undefined) return traceId
      if (request.headers["traceparent"] === undefined) return ids.next()
      return Option.match(HttpTraceContext.w3c(request.headers), { onNone: ids.next, onSome: (span) => span.traceId })
    }

    /** The envelope in place of an answer that the library left bare. */
    const explained = (
      requestContext: RequestContext["Service"],
      request: HttpServerRequest.HttpServerRequest,
      bare: HttpServerResponse.HttpServerResponse
    ): HttpServerResponse.HttpServerResponse => {
      const path = pathOf(request)
      const methods = bare.status === 404 ? methodsOf(request.url) : []
      const error = requestContext.isLate
        ? lateAnswer(deadlines.length)
        : fallbackError(bare.status, { method: request.method, path, methods })
      if (error === undefined) return bare
      const whole = errorResponse(error, { path, requestContext, now: now() })
      const closing = bare.headers["connection"]
      return HttpServerResponse.setHeaders(whole, {
        ...(closing === undefined ? {} : { connection: closing }),
        ...(methods.length === 0 ? {} : { allow: methods.join(", ") })
      })
    }

    const answer =
      (requestContext: RequestContext["Service"]) =>
      (request: HttpServerRequest.HttpServerRequest, response: HttpServerResponse.HttpServerResponse) => {
        requestContext.endWait()
        const whole = isBare(response) ? explained(requestContext, request, response) : response
        const headers = [...headersOf(requestContext), ...retryAfter(whole)]
        if (ofCaller(request.headers, whole)) headers.push(["cache-control", "private, no-store"])
        const sent = HttpServerResponse.setHeaders(whole, headers)
        return Effect.mapEager(log.answered(request, sent, requestContext), () => sent)
      }

    /** A storage that is away is no fault of ours: the same request may be sent again. */
    const orUnavailable = <E>(
      requestContext: RequestContext["Service"],
      request: HttpServerRequest.HttpServerRequest,
      cause: Cause.Cause<E>
    ) => {
      if (!isOfStorage(cause, isTransient)) return Effect.failCause(cause)
      return Effect.as(
        ErrorReporter.report(cause),
        errorResponse(databaseAway(), { path: request.url, requestContext, now: now() })
      )
    }

    return (httpEffect) => {
      const routed = httpEffect as Effect.Effect<HttpServerResponse.HttpServerResponse, Effect.Error<typeof httpEffect>>

      return Effect.withFiber((fiber) => {
        const request = Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest)
        const requestContext: RequestContext["Service"] = {
          correlationId: correlationId(request, fiber.cache.span?.traceId),
          requestId: ids.next(),
          address: clientAddress(Option.getOrUndefined(request.remoteAddress)),
          startedAt: clock.monotonicTimeNanosUnsafe(),
          allowance: undefined,
          caller: undefined,
          isLate: false,
          endWait: deadlines.await(() => {
            requestContext.isLate = true
            fiber.interruptUnsafe()
          })
        }
        HttpEffect.appendPreResponseHandlerUnsafe(fiber.context, answer(requestContext))
        // Set, not provided: the request's root restores the context, and until then the answer above still sees the
        // route. The type above records that this has been done.
        const context = Context.add(fiber.context, RequestContext, requestContext)
        fiber.setContext(
          fiber.cache.span === undefined ? Context.add(context, Tracer.ParentSpan, callerOf(requestContext)) : context
        )
        const refusing = (error: DomainError, status?: { readonly status: number }) =>
          Effect.succeed(errorResponse(error, { path: request.url, requestContext, now: now(), ...status }))
        const answered = Effect.flatMapEager(
          limits.arrive(countedAs(request.url, requestContext.address)),
          (allowance) => {
            requestContext.allowance = allowance
            if (allowance.isExceeded) return refusing(tooMany(allowance, clock.currentTimeMillisUnsafe()))
            const problem = encodingProblem(request.headers)
            return problem === undefined ? routed : refusing(problem, { status: 415 })
          }
        )
        return Effect.catchCause(answered, (cause) => orUnavailable(requestContext, request, cause))
      })
    }
  }),
  { global: true }
).pipe(Layer.provide(AnswerDeadlines.layer))

/**
 * Where no tracer opened a span, the caller stands for it, so that logs and launched work still share the correlation
 * id.
 */
const callerOf = ({ correlationId, requestId }: RequestContext["Service"]) =>
  Tracer.externalSpan({ traceId: correlationId, spanId: requestId.slice(0, 16), sampled: false })
