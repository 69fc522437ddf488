/**
 * Serves an endpoint that reads nothing of the request but the caller, by the router itself: contract, key, scope, limits
 * and errors are as everywhere; what HttpApi does for endpoints with input and codecs is left out, which is more than
 * half of what it costs to answer such a request.
 */
import { Context, DateTime, Effect } from "effect"
import { HttpRouter, type HttpServerResponse } from "effect/http"
import type { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import type { Caller } from "#domain/identity/Caller.ts"
import { errorResponse } from "#http/errorResponse.ts"
import { ApiKeyAuth } from "#http/middleware/ApiKeyAuth.ts"
import { EndpointLimit } from "#http/middleware/EndpointLimit.ts"
import { Exchange } from "#http/middleware/Exchange.ts"
import type { DomainError } from "#http/wireError.ts"

type Answer = HttpServerResponse.HttpServerResponse

/** What the middlewares say of their own types: each takes an effect, and adds its refusals to how it may end. */
type Woven = (
  answer: Effect.Effect<Answer, DomainError, Caller>,
  options: { readonly group: HttpApiGroup.Top; readonly endpoint: HttpApiEndpoint.Top }
) => Effect.Effect<Answer, DomainError, Caller>

/** The endpoint's middlewares must be RequestErrors, EndpointLimit and ApiKeyAuth. */
export const answerDirectly = (
  group: { readonly identifier: string; readonly endpoints: Readonly<Record<string, unknown>> },
  name: string,
  answer: Effect.Effect<Answer, never, Caller>
) =>
  HttpRouter.use(
    Effect.fnUntraced(function* (router) {
      const limited = (yield* EndpointLimit) as unknown as Woven
      const authenticated = (yield* ApiKeyAuth) as unknown as Woven
      const endpoint = group.endpoints[name] as HttpApiEndpoint.Top
      const options = { group: group as HttpApiGroup.Top, endpoint }
      const woven = authenticated(limited(answer, options), options)

      const explained = Effect.catch(woven, (error) =>
        Effect.withFiber((fiber) => {
          const exchange = Context.getUnsafe(fiber.context, Exchange)
          return Effect.map(DateTime.now, (now) => errorResponse(error, { path: endpoint.path, exchange, now }))
        })
      ) as Effect.Effect<Answer>
      yield* router.add("GET", endpoint.path as HttpRouter.PathInput, explained)
    })
  )
