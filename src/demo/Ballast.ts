/** The typed client of the integrator API: derived from the contract, so it cannot drift from the service. */
import { Context, Effect, Layer } from "effect"
import { HttpClientRequest } from "effect/http"
import { HttpApiClient, HttpApiMiddleware } from "effect/http-api"
import { ApiKeyAuth } from "#http/middleware/ApiKeyAuth.ts"
import { V2 } from "#http/v2/Api.ts"
import { Sandbox } from "#src/demo/Sandbox.ts"

export class Ballast extends Context.Service<Ballast, HttpApiClient.ForApi<typeof V2>>()("ballast/src/demo/Ballast") {
  /** Speaks to the sandbox's service with the key of its first tenant. */
  static readonly layer = Layer.unwrap(
    Effect.gen(function* () {
      const { overview } = yield* Sandbox
      const withKey = HttpApiMiddleware.layerClient(ApiKeyAuth, ({ next, request }) =>
        next(HttpClientRequest.setHeader(request, "x-api-key", overview.tenants[0].apiKey))
      )
      return Layer.effect(Ballast, HttpApiClient.make(V2, { baseUrl: overview.apiBaseUrl })).pipe(
        Layer.provide(withKey)
      )
    })
  )
}
