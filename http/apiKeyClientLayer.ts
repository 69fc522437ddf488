/** Sends the caller's API key with each request of a typed client. */
import { Redacted } from "effect"
import { HttpClientRequest } from "effect/http"
import { HttpApiMiddleware } from "effect/http-api"
import { ApiKeyAuth } from "#http/middleware/ApiKeyAuth.ts"

export const apiKeyClientLayer = (apiKey: Redacted.Redacted<string>) =>
  HttpApiMiddleware.layerClient(ApiKeyAuth, ({ next, request }) =>
    next(HttpClientRequest.setHeader(request, "x-api-key", Redacted.value(apiKey)))
  )
