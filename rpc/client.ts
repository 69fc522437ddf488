/**
 * The typed client of the public procedures, over Effect's RPC: `client("assets.searchForTokens", { q: "weth" })`. It is derived
 * from the contract, so it cannot drift from the service.
 */
import { Effect, Layer } from "effect"
import { FetchHttpClient, HttpClient, HttpClientRequest } from "effect/http"
import { RpcClient, RpcSerialization } from "effect/rpc"
import { PublicProcedures } from "#rpc/PublicProcedures.ts"

/** Lives as long as the scope. `baseUrl` is the API's, without a slash at the end. */
export const makeProcedures = Effect.fnUntraced(function* (options: { readonly baseUrl: string }) {
  const protocol = yield* Layer.build(
    RpcClient.layerProtocolHttp({
      url: `${options.baseUrl}/v1/rpc`,
      // The library ends the URL with a slash, and to the service that is another path.
      transformClient: HttpClient.mapRequest(HttpClientRequest.setUrl(`${options.baseUrl}/v1/rpc`))
    }).pipe(Layer.provide([FetchHttpClient.layer, RpcSerialization.layerNdjson]))
  )
  return yield* Effect.provideContext(RpcClient.make(PublicProcedures, { flatten: true }), protocol)
})
