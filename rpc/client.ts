/**
 * The typed client of the procedures, over Effect's RPC: `client("assets.searchForTokens", { q: "weth" })`. It is
 * derived from the contract, so it cannot drift from the service.
 */
import { Effect, flow, Layer, type Redacted } from "effect"
import { FetchHttpClient, HttpClient, HttpClientRequest } from "effect/http"
import { RpcClient, RpcSerialization } from "effect/rpc"
import { ClientProcedures } from "#rpc/ClientProcedures.ts"

export interface ProcedureOptions {
  /** The API's, without a slash at the end. */
  readonly baseUrl: string
  /** A wallet session's, for the procedures that need one. */
  readonly token?: Redacted.Redacted
}

/** The protocol that the service speaks, for clients of any group of its procedures. */
export const layerProtocol = ({ baseUrl, token }: ProcedureOptions): Layer.Layer<RpcClient.Protocol> => {
  // The library ends the URL with a slash, and to the service that is another path.
  const addressed = HttpClientRequest.setUrl(`${baseUrl}/v1/rpc`)
  const signed = token === undefined ? addressed : flow(addressed, HttpClientRequest.bearerToken(token))
  return RpcClient.layerProtocolHttp({
    url: `${baseUrl}/v1/rpc`,
    transformClient: HttpClient.mapRequest(signed)
  }).pipe(Layer.provide([FetchHttpClient.layer, RpcSerialization.layerNdjson]))
}

/** Open until the scope closes. */
export const makeProcedures = Effect.fnUntraced(function* (options: ProcedureOptions) {
  const protocol = yield* Layer.build(layerProtocol(options))
  return yield* Effect.provideContext(RpcClient.make(ClientProcedures, { flatten: true }), protocol)
})
