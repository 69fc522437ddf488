/** Sends what the caller presents, an API key or a wallet session's token, with each request of a typed client. */
import { Layer, Redacted } from "effect"
import { HttpClientRequest } from "effect/http"
import { HttpApiMiddleware } from "effect/http-api"
import { ApiKeyAuth } from "#http/middleware/ApiKeyAuth.ts"
import { ExecutionAuth } from "#http/middleware/ExecutionAuth.ts"

/** Credentials of an API key. */
export const apiKeyClientLayer = (apiKey: Redacted.Redacted<string>) => {
  const sign = HttpClientRequest.setHeader("x-api-key", Redacted.value(apiKey))
  return Layer.merge(
    HttpApiMiddleware.layerClient(ApiKeyAuth, ({ next, request }) => next(sign(request))),
    HttpApiMiddleware.layerClient(ExecutionAuth, ({ next, request }) => next(sign(request)))
  )
}

/** Credentials of a session; routes that accept keys alone are called without one, and refuse. */
export const sessionClientLayer = (token: Redacted.Redacted) =>
  Layer.merge(
    HttpApiMiddleware.layerClient(ApiKeyAuth, ({ next, request }) => next(request)),
    HttpApiMiddleware.layerClient(ExecutionAuth, ({ next, request }) =>
      next(HttpClientRequest.bearerToken(request, token))
    )
  )
