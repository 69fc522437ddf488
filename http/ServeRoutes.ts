/** Serves the routes on the HttpServer of the context. */
import { Context, Effect, Layer, type Scope } from "effect"
import { HttpMiddleware, HttpRouter, HttpServer } from "effect/http"
import type { IpNetwork } from "effect/net"
import { ShutdownState } from "#http/ShutdownState.ts"
import { Routes } from "#http/Routes.ts"
import { routerConfig } from "#http/routerSettings.ts"
import { ServerContext } from "#http/ServerContext.ts"

/** Services that routes have closed over when they were built, or that only adapters and programs use. */
const closedOver = [
  "ballast/",
  "effect/crypto/",
  "effect/sql/",
  "@effect/",
  "effect/process/",
  "effect/FileSystem",
  "effect/Path",
  "effect/Terminal",
  "~effect/Stdio",
  "effect/Layer/CurrentMemoMap",
  "effect/http/HttpServer",
  "effect/http/HttpPlatform",
  "effect/http/Etag/",
  "effect/http/HttpRouter/RouterConfig"
]

/** Settings of the HTTP library that it looks up in the request, although their names are a package's. */
const lookedUp = "@effect/platform/HttpMiddleware/"

/**
 * What a request carries: what Effect itself looks up while it runs, such as clock, tracer and loggers. Every request
 * copies its context, so each service that it does not need would cost all of them.
 */
const requestContext = <R>(context: Context.Context<R>): Context.Context<R> =>
  Context.makeUnsafe(
    new Map(
      [...context.mapUnsafe].filter(
        ([key]) => key.startsWith(lookedUp) || !closedOver.some((prefix) => key.startsWith(prefix))
      )
    )
  )

/**
 * `X-Forwarded-For` is believed from the given networks alone; without any, the address of the connection counts.
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
