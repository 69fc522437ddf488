/**
 * Metrics and log of the answers. Both name the route's template, never the path: ids would make a series each.
 *
 * A line is written for each request that was refused or failed, and for one in a hundred of the others; at debug level
 * for each. An answer that is not logged costs one comparison. What is refused with a key that was accepted is stored
 * for its tenant too.
 */
import { Clock, Context, DateTime, Effect, Fiber, Layer, LogLevel, Metric } from "effect"
import { HttpRouter, type HttpServerRequest, type HttpServerResponse } from "effect/http"
import { RefusedRequests } from "#domain/request/RefusedRequests.ts"
import * as Metrics from "#domain/effects/Metrics.ts"
import { errorOf } from "#http/errorOf.ts"
import type { RequestContext } from "#domain/request/RequestContext.ts"
import { templateOf } from "#http/templateOf.ts"

/** Attributes by the semantic conventions for HTTP; what is no route has neither a route nor a method of its own. */
const makeSeries = (route: { readonly method: string; readonly path: string } | undefined, status: number) => ({
  route: route === undefined ? "unmatched" : templateOf(route.path),
  duration: Metric.withAttributes(Metrics.requestDuration, {
    "http.request.method": route?.method ?? "_OTHER",
    ...(route === undefined ? {} : { "http.route": templateOf(route.path) }),
    "http.response.status_code": String(status),
    "url.scheme": "http",
    ...(status >= 500 ? { "error.type": String(status) } : {})
  })
})

const titleOf = (status: number): string => (status >= 500 ? "Failed" : status >= 400 ? "Refused" : "Answered")

/** Share of successful answers that are logged: one in this many. */
const sampledOneIn = 100

/** The code of an answer in one of our envelopes, which have it before anything that a client sent. */
const codeOf = ({ body }: HttpServerResponse.HttpServerResponse): string | undefined => {
  if (body._tag !== "Uint8Array") return undefined
  const start = Buffer.from(body.body.buffer, body.body.byteOffset, Math.min(body.body.byteLength, 200)).toString()
  return /^\{(?:"success":false,)?"error":\{(?:"json":\{)?"code":"([A-Z0-9_]{1,40})"/u.exec(start)?.[1]
}

/** Stands for every path that is no route. */
const unmatched = {}

export class RequestLog extends Context.Service<
  RequestLog,
  {
    /** Notes one answer. Runs on the request's fiber, after its route was found. */
    readonly answered: (
      request: HttpServerRequest.HttpServerRequest,
      response: HttpServerResponse.HttpServerResponse,
      requestContext: RequestContext["Service"]
    ) => Effect.Effect<void>
  }
>()("ballast/http/serving/RequestLog") {
  static readonly layer = Layer.effect(
    RequestLog,
    Effect.gen(function* () {
      const clock = yield* Clock.Clock
      const refusals = yield* RefusedRequests
      // A metric reads no more than these two from its context, and faster here than in a request's.
      const metrics = Context.pick(
        Metric.MetricRegistry,
        Metric.CurrentMetricAttributes
      )(yield* Effect.context<never>())
      // A route is one object for the life of the router, so it is found without building a name; statuses are few.
      const known = new Map<object, Map<number, ReturnType<typeof makeSeries>>>()
      let unremarkable = 0

      const seriesOf = (route: HttpRouter.Route<unknown, unknown> | undefined, status: number) => {
        const key = route ?? unmatched
        let statuses = known.get(key)
        if (statuses === undefined) known.set(key, (statuses = new Map()))
        let series = statuses.get(status)
        if (series === undefined) {
          series = makeSeries(route, status)
          statuses.set(status, series)
        }
        return series
      }

      return RequestLog.of({
        answered: (request, response, requestContext) => {
          const fiber = Fiber.getCurrent()!
          const matched = Context.getOrUndefined(
            fiber.context as Context.Context<HttpRouter.RouteContext>,
            HttpRouter.RouteContext
          )
          const series = seriesOf(matched?.route, response.status)
          const seconds = Number(clock.monotonicTimeNanosUnsafe() - requestContext.startedAt) / 1e9
          series.duration.updateUnsafe(seconds, metrics)
          const isRemarkable = response.status >= 400
          const isSampled = !isRemarkable && unremarkable++ % sampledOneIn === 0
          if (isRemarkable && requestContext.caller !== undefined)
            refusals.note({
              ...requestContext.caller,
              ...errorOf(response),
              at: DateTime.makeUnsafe(clock.currentTimeMillisUnsafe()),
              requestId: requestContext.requestId,
              correlationId: requestContext.correlationId,
              method: request.method,
              route: series.route,
              status: response.status,
              milliseconds: Math.round(seconds * 1e6) / 1000
            })
          const level = isRemarkable || isSampled ? "Info" : "Debug"
          if (!LogLevel.isGreaterThanOrEqualTo(level, fiber.cache.minimumLogLevel)) return Effect.void
          const code = isRemarkable ? codeOf(response) : undefined
          const { caller } = requestContext
          return Effect.annotateLogs(Effect.logWithLevel(level)(titleOf(response.status)), {
            method: request.method,
            route: series.route,
            status: response.status,
            ...(code === undefined ? {} : { code }),
            ...(caller === undefined ? {} : { tenantId: caller.tenantId, apiKeyId: caller.apiKeyId }),
            milliseconds: seconds * 1000,
            correlationId: requestContext.correlationId,
            requestId: requestContext.requestId
          })
        }
      })
    })
  )
}
