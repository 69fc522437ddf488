/**
 * An HTTP transport that serves nothing before the endpoint has proved which chain it serves: a mixed-up endpoint
 * would otherwise show another chain's balances, or take a transaction meant for elsewhere.
 *
 * A redirect is not followed, as it would carry the key in the URL and the request to another host. An answer is read
 * up to a size and for a time.
 */
import { BaseError, hexToNumber, http, type Transport } from "viem"
import type { ChainId } from "#domain/Caip.ts"

/** An endpoint answered for another chain than configured. */
export class WrongChain extends BaseError {
  constructor(expected: number, actual: number) {
    super(`the endpoint serves chain ${actual} where chain ${expected} is configured; correct its URL`, {
      name: "WrongChain"
    })
  }
}

const requestTimeoutMillis = 5_000
/** From the request to the last byte of the answer. */
const answerTimeoutMillis = 8_000
/** Of one answer; the logs of 2,000 blocks are the largest. */
export const maxAnswerBytes = 8 * 1024 * 1024

/** viem's own time limit ends when the answer begins. */
const boundedFetch: typeof fetch = (input, init) =>
  fetch(input, { ...init, redirect: "manual", signal: AbortSignal.timeout(answerTimeoutMillis) })

/** `retryCount`: how often a request is repeated at this endpoint; none where another endpoint can be used instead. */
export const verifiedTransport = (url: string, chainId: ChainId, retryCount: number): Transport => {
  const transport = http(url, {
    timeout: requestTimeoutMillis,
    retryCount,
    fetchFn: boundedFetch,
    maxResponseBodySize: maxAnswerBytes
  })
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
