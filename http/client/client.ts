/**
 * The typed client of the integrator API, exported as `ballast-effect`: derived from the contract, so it cannot drift
 * from the service, and it loads nothing that a browser cannot.
 *
 * ```ts
 * import { makeClient } from "ballast-effect"
 *
 * const program = Effect.gen(function* () {
 *   const ballast = yield* makeClient({ baseUrl: "https://api.ballast.example", apiKey: Redacted.make(key) })
 *   const { data } = yield* ballast.identity.whoami()
 * }).pipe(Effect.provide(FetchHttpClient.layer))
 * ```
 *
 * A call fails with the class of the API error, such as `PortfolioNotFound`, with a transport error of the HTTP client,
 * or with a schema error when the answer does not match the contract.
 */
import { Effect, type Redacted } from "effect"
import { HttpApiClient } from "effect/http-api"
import { apiKeyClientLayer } from "#http/client/apiKeyClientLayer.ts"
import { V2 } from "#http/v2/Api.ts"

/** One method an endpoint, grouped as in the contract. */
export type BallastClient = HttpApiClient.ForApi<typeof V2>

export interface ClientOptions {
  /** Address of the deployment, without `/v2`. */
  readonly baseUrl: string
  readonly apiKey: Redacted.Redacted<string>
}

/** Needs an `HttpClient`, for example `FetchHttpClient.layer` in a browser. */
export const makeClient = ({ apiKey, baseUrl }: ClientOptions) =>
  HttpApiClient.make(V2, { baseUrl }).pipe(Effect.provide(apiKeyClientLayer(apiKey)))

export * from "#domain/errors/Errors.ts"
export { V2 } from "#http/v2/Api.ts"
export { executionEvents, type FollowOptions, fromTheBeginning } from "#http/client/executionEvents.ts"
export type { ExecutionEvent } from "#http/execution/ExecutionEvent.ts"
