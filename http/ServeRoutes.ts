/** Serves the routes on the HttpServer of the context. */
import { Clock, Context, Effect, ErrorReporter, Layer, Logger, Metric, References, Scope, Tracer } from "effect"
import { HttpIncomingMessage, HttpMiddleware, HttpRouter, HttpServer } from "effect/http"
import type { IpNetwork } from "effect/net"
import { ShutdownState } from "#http/ShutdownState.ts"
import { Routes, ServerContext } from "#http/Routes.ts"
import { routerConfig } from "#http/routerSettings.ts"

/**
 * What a request contains: its scope, and what Effect and its HTTP server themselves read while it runs. Routes have
 * closed over the services when they were built. Every request copies its context, so each service that it does not
 * need would cost all of them.
 */
const inherited: ReadonlySet<string> = new Set(
  [
    Scope.Scope,
    Clock.Clock,
    Tracer.Tracer,
    Metric.MetricRegistry,
    Logger.CurrentLoggers,
    References.CurrentLogAnnotations,
    References.MinimumLogLevel,
    ErrorReporter.CurrentErrorReporters,
    HttpMiddleware.SpanNameGenerator,
    HttpIncomingMessage.MaxBodySize
  ].map(({ key }) => key)
)

const requestContext = <R>(context: Context.Context<R>): Context.Context<R> =>
  Context.makeUnsafe(new Map([...context.mapUnsafe].filter(([key]) => inherited.has(key))))

/**
 * `X-Forwarded-For` is accepted from the given networks alone; without any, the address of the connection counts.
 * `others` are routes beside the REST ones, under the same middleware.
 */
export const ServeRoutes = (
  trustedProxies: ReadonlyArray<IpNetwork.IpNetwork>,
  others: Layer.Layer<never, never, HttpRouter.HttpRouter | ShutdownState> = Layer.empty
) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const closing = yield* ShutdownState
      const routes = yield* HttpRouter.toHttpEffect(Layer.merge(Routes, others))
      const served = trustedProxies.length === 0 ? routes : HttpMiddleware.xForwardedHeaders({ trustedProxies })(routes)
      const server = yield* HttpServer.HttpServer
      const context = yield* Effect.context<Scope.Scope>()
      yield* Effect.setContext(server.serve(served), requestContext(context))
      // Added last, so it runs first: open streams end before the server waits for its connections.
      yield* Effect.addFinalizer(() => closing.begin)
    })
  ).pipe(
    Layer.provide(Layer.succeed(HttpRouter.RouterConfig, routerConfig)),
    Layer.provide([ServerContext, ShutdownState.layer])
  )
