/**
 * Why an RPC request failed, as text that may be stored and shown: endpoint addresses often contain a key, so none of
 * the text that viem composes (it quotes URL and body) is used.
 */
import { BaseError, HttpRequestError, ResponseBodyTooLargeError, RpcRequestError } from "viem"
import { maxAnswerBytes, UnreadableAnswer } from "#layers/evm/rpc/jsonRpcOverHttp.ts"
import { WrongChain } from "#layers/evm/rpc/verifiedTransport.ts"

const longestNodeMessage = 200

/** A node's message without anything that resembles an address of a host. */
const nodeMessage = (error: RpcRequestError) =>
  error.details.replace(/\b[a-z]+:\/\/\S+/giu, "[endpoint]").slice(0, longestNodeMessage)

/** The JSON-RPC error inside whatever viem wrapped around it. */
export const rpcErrorOf = (error: unknown): RpcRequestError | undefined => {
  const found = error instanceof BaseError ? error.walk((cause) => cause instanceof RpcRequestError) : undefined
  return found instanceof RpcRequestError ? found : undefined
}

/** viem's own, and that of an aborted body. */
const isTimeout = (cause: unknown): boolean =>
  (cause instanceof Error || cause instanceof DOMException) && cause.name === "TimeoutError"

export const describeRpcFailure = (method: string, error: unknown): string => {
  const unreadable = `${method}: the answer could not be read`
  if (!(error instanceof BaseError) || error.walk((cause) => cause instanceof UnreadableAnswer) !== null)
    return unreadable
  const wrongChain = error.walk((cause) => cause instanceof WrongChain)
  if (wrongChain instanceof WrongChain) return wrongChain.shortMessage
  const rpc = rpcErrorOf(error)
  if (rpc !== undefined) return `${method}: the node answered error ${rpc.code}, ${nodeMessage(rpc)}`
  if (error.walk(isTimeout) !== null) return `${method}: no answer in time`
  if (error.walk((cause) => cause instanceof ResponseBodyTooLargeError) !== null)
    return `${method}: the answer is longer than ${maxAnswerBytes} bytes`
  const http = error.walk((cause) => cause instanceof HttpRequestError)
  if (http instanceof HttpRequestError) {
    if (http.status !== undefined && http.status >= 300 && http.status < 400)
      return `${method}: the endpoint redirects elsewhere, which is not followed; configure the URL that answers`
    return http.status === undefined ? `${method}: no connection` : `${method}: HTTP status ${http.status}`
  }
  return `${method}: ${error.name}`
}
