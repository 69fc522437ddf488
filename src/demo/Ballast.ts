/** The integrator API of the sandbox's service, called with the key of one tenant. */
import { Context, Effect, Layer, Redacted } from "effect"
import { type BallastClient, makeClient } from "#http/client/client.ts"
import { Sandbox } from "#src/demo/Sandbox.ts"

export class Ballast extends Context.Service<Ballast, BallastClient>()("ballast/src/demo/Ballast") {
  static readonly layer = Layer.effect(
    Ballast,
    Effect.gen(function* () {
      const { apiKey, overview } = yield* Sandbox
      return yield* makeClient({
        baseUrl: overview.apiBaseUrl,
        apiKey: Redacted.make(apiKey)
      })
    })
  )
}
