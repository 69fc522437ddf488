/**
 * The chains' RPC as a provider would offer it: without accounts and without the chain program's own methods, and with
 * the faults that providers have. Each chain has two endpoints, which are one chain and two nodes.
 */
import { Effect, Schema } from "effect"
import { HttpBody, HttpClient, HttpRouter, type HttpServerRequest, HttpServerResponse } from "effect/http"
import { endpointsOfChain, Faults } from "#sandbox/faults/Faults.ts"
import type { NodeFault } from "#sandbox/faults/NodeFault.ts"
import { misbehave, type RpcCall } from "#sandbox/chain/misbehavingNode.ts"
import { WorldChains } from "#sandbox/chain/SandboxChains.ts"
import { withFaults } from "#sandbox/faults/withFaults.ts"

const Call = Schema.Struct({
  method: Schema.String,
  params: Schema.optionalKey(Schema.Array(Schema.Unknown)),
  id: Schema.optionalKey(Schema.Unknown),
  jsonrpc: Schema.optionalKey(Schema.Unknown)
})
const Answer = Schema.Struct({
  jsonrpc: Schema.optionalKey(Schema.String),
  id: Schema.optionalKey(Schema.Unknown),
  result: Schema.optionalKey(Schema.Unknown),
  error: Schema.optionalKey(Schema.Unknown)
})
const decodeAnswer = Schema.decodeEffect(Schema.fromJsonString(Answer))
const Payload = Schema.fromJsonString(Schema.Union([Call, Schema.Array(Call)]))

const offered = /^(eth|net|web3|debug|trace)_/
const keptBack = /^eth_(send(Unsigned)?Transaction(Sync)?|sign.*|accounts)$/

const rpcError = (code: number, message: string, status: number) =>
  HttpServerResponse.jsonUnsafe({ jsonrpc: "2.0", id: null, error: { code, message } }, { status })

const answers = {
  error: rpcError(-32603, "Internal error", 500),
  rateLimited: rpcError(-32005, "Too many requests", 429)
}

/** How an endpoint answers the calls of a request that it takes. */
type Respond = (
  text: string,
  payload: RpcCall | ReadonlyArray<RpcCall>
) => Effect.Effect<HttpServerResponse.HttpServerResponse, unknown>

const respondAsTheChain =
  (client: HttpClient.HttpClient, rpcUrl: string): Respond =>
  (text) =>
    Effect.gen(function* () {
      const response = yield* client.post(rpcUrl, { body: HttpBody.text(text, "application/json") })
      return HttpServerResponse.text(yield* response.text, { status: response.status, contentType: "application/json" })
    })

/** Each call of a batch by itself. */
const respondBy =
  (client: HttpClient.HttpClient, rpcUrl: string, fault: NodeFault): Respond =>
  (_, payload) =>
    Effect.gen(function* () {
      const ask = (call: RpcCall) =>
        client.post(rpcUrl, { body: HttpBody.jsonUnsafe({ jsonrpc: "2.0", ...call }) }).pipe(
          Effect.flatMap((response) => response.text),
          Effect.flatMap(decodeAnswer)
        )
      if (!Array.isArray(payload))
        return HttpServerResponse.jsonUnsafe(yield* misbehave(fault, payload as RpcCall, ask))
      return HttpServerResponse.jsonUnsafe(
        yield* Effect.forEach(payload, (call: RpcCall) => misbehave(fault, call, ask))
      )
    })

const answerWith = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest, respond: Respond) {
  const text = yield* request.text
  const payload = yield* Schema.decodeEffect(Payload)(text).pipe(Effect.option)
  if (payload._tag === "None") return rpcError(-32700, "The body is not a JSON-RPC request", 400)
  const refused = [payload.value].flat().find(({ method }) => !offered.test(method) || keptBack.test(method))
  if (refused !== undefined) return rpcError(-32601, `The method ${refused.method} is not offered`, 200)
  return yield* respond(text, payload.value)
})

/** Where an endpoint of a chain is, below the control server. */
export const rpcPath = (chainId: number, endpoint: number): `/${string}` =>
  endpoint === 1 ? `/rpc/${chainId}` : `/rpc/${chainId}/${endpoint}`

/** `POST /rpc/{chainId}` and `POST /rpc/{chainId}/2` for each chain. */
export const rpcProxy = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const chains = yield* WorldChains
    const faults = yield* Faults
    const client = yield* HttpClient.HttpClient
    for (const { chainId, rpcUrl } of chains.all) {
      for (const endpoint of endpointsOfChain) {
        yield* router.add("POST", rpcPath(chainId, endpoint), (request) =>
          Effect.gen(function* () {
            const fault = yield* faults.takeOfEndpoint(chainId, endpoint)
            const respond =
              typeof fault === "string" ? respondAsTheChain(client, rpcUrl) : respondBy(client, rpcUrl, fault)
            const answer = answerWith(request, respond).pipe(
              Effect.catch(() => Effect.succeed(rpcError(-32603, `Chain ${chainId} does not answer`, 502)))
            )
            return yield* withFaults(typeof fault === "string" ? fault : "ok", answers, answer)
          })
        )
      }
    }
  })
)
