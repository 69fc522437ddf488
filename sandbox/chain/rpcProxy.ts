/**
 * The chains' RPC as a provider would offer it: without accounts and without the chain program's own methods, and with
 * the faults that providers have.
 */
import { Effect, Schema } from "effect"
import { HttpBody, HttpClient, HttpRouter, type HttpServerRequest, HttpServerResponse } from "effect/http"
import { Faults } from "#sandbox/faults/Faults.ts"
import { WorldChains } from "#sandbox/chain/SandboxChains.ts"
import { withFaults } from "#sandbox/faults/withFaults.ts"

const Call = Schema.Struct({ method: Schema.String })
const Payload = Schema.fromJsonString(Schema.Union([Call, Schema.Array(Call)]))

const offered = /^(eth|net|web3|debug|trace)_/
const keptBack = /^eth_(send(Unsigned)?Transaction(Sync)?|sign.*|accounts)$/

const rpcError = (code: number, message: string, status: number) =>
  HttpServerResponse.jsonUnsafe({ jsonrpc: "2.0", id: null, error: { code, message } }, { status })

const answers = {
  error: rpcError(-32603, "Internal error", 500),
  rateLimited: rpcError(-32005, "Too many requests", 429)
}

const forward = Effect.fnUntraced(function* (
  client: HttpClient.HttpClient,
  rpcUrl: string,
  request: HttpServerRequest.HttpServerRequest
) {
  const text = yield* request.text
  const payload = yield* Schema.decodeEffect(Payload)(text).pipe(Effect.option)
  if (payload._tag === "None") return rpcError(-32700, "The body is not a JSON-RPC request", 400)
  const refused = [payload.value].flat().find(({ method }) => !offered.test(method) || keptBack.test(method))
  if (refused !== undefined) return rpcError(-32601, `The method ${refused.method} is not offered`, 200)
  const response = yield* client.post(rpcUrl, { body: HttpBody.text(text, "application/json") })
  return HttpServerResponse.text(yield* response.text, { status: response.status, contentType: "application/json" })
})

/** `POST /rpc/{chainId}` for each chain. */
export const rpcProxy = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const chains = yield* WorldChains
    const faults = yield* Faults
    const client = yield* HttpClient.HttpClient
    for (const chain of chains.all) {
      yield* router.add("POST", `/rpc/${chain.chainId}`, (request) =>
        Effect.gen(function* () {
          const mode = yield* faults.take(`rpc:${chain.chainId}`)
          const answer = forward(client, chain.rpcUrl, request).pipe(
            Effect.catch(() => Effect.succeed(rpcError(-32603, `Chain ${chain.chainId} does not answer`, 502)))
          )
          return yield* withFaults(mode, answers, answer)
        })
      )
    }
  })
)
