/**
 * Passes a request to the service's own router, without a socket: it passes the same middleware as one from outside,
 * so authentication, scopes, limits, errors and the log are those of the routes.
 */
import { Context, Effect, type Scope } from "effect"
import { HttpEffect, type HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"

export interface InnerResponse {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

export interface InnerRequest {
  readonly method: string
  /** Path and query. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
}

/** What the tool's request takes from the one that it came with. */
const contextOf = (
  context: Context.Context<never>,
  outer: HttpServerRequest.HttpServerRequest,
  inner: InnerRequest
) => {
  const request = new Request(`http://mcp.internal${inner.url}`, {
    method: inner.method,
    headers: inner.headers,
    ...(inner.body === undefined ? {} : { body: inner.body })
  })
  const made = HttpServerRequest.fromWeb(request).modify({ remoteAddress: outer.remoteAddress })
  return Context.add(context, HttpServerRequest.HttpServerRequest, made)
}

/**
 * `context` is that of the routes' own requests. The routes are read from the router at the first call, when all of
 * them are there.
 */
export const makeInnerCall = (router: HttpRouter.HttpRouter, context: Context.Context<never>) => {
  let routed: Effect.Effect<
    HttpServerResponse.HttpServerResponse,
    unknown,
    HttpServerRequest.HttpServerRequest | Scope.Scope
  >
  return (outer: HttpServerRequest.HttpServerRequest, inner: InnerRequest): Effect.Effect<InnerResponse> => {
    routed ??= router.asHttpEffect()
    return Effect.callback<InnerResponse>((resume) => {
      const handled = HttpEffect.toHandled(routed, (_request, response) =>
        Effect.promise(async () => {
          const web = HttpServerResponse.toWeb(response, { context })
          resume(Effect.succeed({ status: web.status, headers: web.headers, text: await web.text() }))
        })
      )
      const fiber = Effect.runForkWith(contextOf(context, outer, inner))(handled)
      return Effect.sync(() => fiber.interruptUnsafe())
    })
  }
}
