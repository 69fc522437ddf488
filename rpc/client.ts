/**
 * The typed client of the procedures, over Effect's RPC: `client("assets.searchForTokens", { q: "weth" })`. It is
 * derived from the contract, so it cannot drift from the service.
 */
import { Effect, flow, Layer, type Redacted } from "effect"
import { FetchHttpClient, HttpClient, HttpClientRequest } from "effect/http"
import { RpcClient, RpcSerialization } from "effect/rpc"
import { ClientProcedures } from "#rpc/ClientProcedures.ts"

/**
 * Lives as long as the scope. `baseUrl` is the API's, without a slash at the end; `token` is a wallet session's, for
 * the procedures that need one.
 */
export const makeProcedures = Effect.fnUntraced(function* (options: {
  readonly baseUrl: string
  readonly token?: Redacted.Redacted
}) {
  const { baseUrl, token } = options
  // The library ends the URL with a slash, and to the service that is another path.
  const addressed = HttpClientRequest.setUrl(`${baseUrl}/v1/rpc`)
  const signed = token === undefined ? addressed : flow(addressed, HttpClientRequest.bearerToken(token))
  const protocol = yield* Layer.build(
    RpcClient.layerProtocolHttp({
      url: `${baseUrl}/v1/rpc`,
      transformClient: HttpClient.mapRequest(signed)
    }).pipe(Layer.provide([FetchHttpClient.layer, RpcSerialization.layerNdjson]))
  )
  return yield* Effect.provideContext(RpcClient.make(ClientProcedures, { flatten: true }), protocol)
})
