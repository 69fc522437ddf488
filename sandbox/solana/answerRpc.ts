/** One body of JSON-RPC, a call or a batch of at most 50, as its answer. */
import type { rpcMethods } from "#sandbox/solana/rpcMethods.ts"
import { RpcError } from "#sandbox/solana/RpcError.ts"

const batchLimit = 50

const reply = (id: unknown, rest: object) => ({ jsonrpc: "2.0", id: id ?? null, ...rest })
const failure = (id: unknown, { code, data, message }: RpcError) =>
  reply(id, { error: { code, message, ...(data === undefined ? {} : { data }) } })

const answerOne = (methods: ReturnType<typeof rpcMethods>, call: unknown) => {
  if (typeof call !== "object" || call === null || !("method" in call) || typeof call.method !== "string") {
    return failure(null, new RpcError(-32600, "Invalid request"))
  }
  const id = "id" in call ? call.id : null
  const params = "params" in call && Array.isArray(call.params) ? call.params : []
  const method = Object.hasOwn(methods, call.method) ? methods[call.method] : undefined
  if (method === undefined) return failure(id, new RpcError(-32601, `Method not found: ${call.method}`))
  try {
    return reply(id, { result: method(params) })
  } catch (error) {
    if (error instanceof RpcError) return failure(id, error)
    return failure(id, new RpcError(-32603, error instanceof Error ? error.message : "Internal error"))
  }
}

/** The answer to a body's text. */
export const answerRpc = (methods: ReturnType<typeof rpcMethods>, text: string): unknown => {
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    return failure(null, new RpcError(-32700, "Parse error"))
  }
  if (!Array.isArray(body)) return answerOne(methods, body)
  if (body.length > batchLimit) return failure(null, new RpcError(-32600, `At most ${batchLimit} calls in a batch`))
  return body.map((call) => answerOne(methods, call))
}
