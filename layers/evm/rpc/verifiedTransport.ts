/**
 * A transport that serves nothing before the endpoint has proved which chain it serves: a mixed-up endpoint would
 * otherwise show another chain's balances, or take a transaction meant for elsewhere.
 */
import { BaseError, hexToNumber, type Transport } from "viem"
import type { ChainId } from "#domain/values/Caip.ts"
import { jsonRpcOverHttp } from "#layers/evm/rpc/jsonRpcOverHttp.ts"

/** An endpoint answered for another chain than configured. */
export class WrongChain extends BaseError {
  constructor(expected: number, actual: number) {
    super(`the endpoint serves chain ${actual} where chain ${expected} is configured; correct its URL`, {
      name: "WrongChain"
    })
  }
}

/** `retryCount`: how often a request is repeated at this endpoint; none where another endpoint can be used instead. */
export const verifiedTransport = (url: string, chainId: ChainId, retryCount: number): Transport => {
  const transport = jsonRpcOverHttp(url, retryCount)
  let verified: Promise<void> | undefined
  return (parameters) => {
    const inner = transport(parameters)
    const verify = async () => {
      const actual = hexToNumber(await inner.request({ method: "eth_chainId" }))
      if (actual !== chainId) throw new WrongChain(chainId, actual)
    }
    const request: typeof inner.request = async (args, options) => {
      verified ??= verify().catch((error: unknown) => {
        verified = undefined
        throw error
      })
      await verified
      return inner.request(args, options)
    }
    return { ...inner, request }
  }
}
