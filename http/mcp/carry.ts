/**
 * Carries a request to the service's own router, without a socket: it passes the same middleware as one from outside,
 * so authentication, scopes, limits, errors and the log are those of the routes.
 */
import { Context, Effect, type Scope } from "effect"
import { HttpEffect, type HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"

export interface Carried {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

export interface Carry {
  readonly method: string
  /** Path and query. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
}

/** What the tool's request takes from the one that it came with. */
const contextOf = (context: Context.Context<never>, outer: HttpServerRequest.HttpServerRequest, carry: Carry) => {
  const request = new Request(`http://mcp.internal${carry.url}`, {
    method: carry.method,
    headers: carry.headers,
    ...(carry.body === undefined ? {} : { body: carry.body })
  })
  const inner = HttpServerRequest.fromWeb(request).modify({ remoteAddress: outer.remoteAddress })
  return Context.add(context, HttpServerRequest.HttpServerRequest, inner)
}

/**
 * `context` is that of the routes' own requests. The routes are read from the router at the first call, when all of
 * them are there.
 */
export const makeCarry = (router: HttpRouter.HttpRouter, context: Context.Context<never>) => {
  let routed: Effect.Effect<
    HttpServerResponse.HttpServerResponse,
    unknown,
    HttpServerRequest.HttpServerRequest | Scope.Scope
  >
  return (outer: HttpServerRequest.HttpServerRequest, carry: Carry): Effect.Effect<Carried> => {
    routed ??= router.asHttpEffect()
    return Effect.callback<Carried>((resume) => {
      const handled = HttpEffect.toHandled(routed, (_request, response) =>
        Effect.promise(async () => {
          const web = HttpServerResponse.toWeb(response, { context })
          resume(Effect.succeed({ status: web.status, headers: web.headers, text: await web.text() }))
        })
      )
      const fiber = Effect.runForkWith(contextOf(context, outer, carry))(handled)
      return Effect.sync(() => fiber.interruptUnsafe())
    })
  }
}
