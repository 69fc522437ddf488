/** The entries of a guard's registry for tokens whose price is attested, all in one request at one block. */
import { Effect } from "effect"
import { decodeFunctionResult, encodeFunctionData, zeroAddress } from "viem"
import type { EvmAddress } from "#domain/values/Caip.ts"
import { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import type { AttestedToken } from "#domain/attestation/judgePrice.ts"
import type { PriceDomain } from "#layers/evm/attestation/priceDigest.ts"
import { fromViem, toViem } from "#layers/evm/address.ts"
import { multicall3, multicall3Abi } from "#layers/evm/contracts.ts"
import type { Call, CallResult } from "#layers/evm/rpc/aggregate.ts"
import { multicall } from "#layers/evm/rpc/multicall.ts"
import { tradeGuardAbi } from "#layers/evm/tradeGuard.ts"

export interface AttestedReading {
  /** Time of the block that was read (UNIX). */
  readonly now: number
  /** The attestor whose signature the guard accepts. */
  readonly attestor: EvmAddress
  /** Those of the tokens that are registered without a feed. */
  readonly tokens: ReadonlyMap<EvmAddress, AttestedToken>
}

const headCalls = (guard: EvmAddress): ReadonlyArray<Call> => [
  { target: multicall3, data: encodeFunctionData({ abi: multicall3Abi, functionName: "getCurrentBlockTimestamp" }) },
  { target: toViem(guard), data: encodeFunctionData({ abi: tradeGuardAbi, functionName: "attestor" }) }
]

const tokenCalls = (guard: EvmAddress, token: EvmAddress): ReadonlyArray<Call> =>
  (["tokens", "anchors"] as const).map((functionName) => ({
    target: toViem(guard),
    data: encodeFunctionData({ abi: tradeGuardAbi, functionName, args: [toViem(token)] })
  }))

const decodeToken = (entry: CallResult, anchor: CallResult): AttestedToken | undefined => {
  const { feed, listing, maxAge, maxStepBps } = decodeFunctionResult({
    abi: tradeGuardAbi,
    functionName: "tokens",
    data: entry.data
  })
  if (listing === 0 || feed !== zeroAddress) return undefined
  const { next, price, time } = decodeFunctionResult({ abi: tradeGuardAbi, functionName: "anchors", data: anchor.data })
  return { maxAge, maxStepBps, anchor: { price, next, time } }
}

export const readAttested = Effect.fn("readAttested")(function* (
  { chainId, guard }: PriceDomain,
  tokens: ReadonlyArray<EvmAddress>
) {
  const results = yield* multicall(chainId, [
    ...headCalls(guard),
    ...tokens.flatMap((token) => tokenCalls(guard, token))
  ])
  return yield* Effect.try({
    try: (): AttestedReading => {
      const [block, key, ...entries] = results
      const time = decodeFunctionResult({
        abi: multicall3Abi,
        functionName: "getCurrentBlockTimestamp",
        data: block!.data
      })
      const attestor = decodeFunctionResult({ abi: tradeGuardAbi, functionName: "attestor", data: key!.data })
      const known = tokens.flatMap((token, index) => {
        const found = decodeToken(entries[2 * index]!, entries[2 * index + 1]!)
        return found === undefined ? [] : [[token, found] as const]
      })
      return { now: Number(time), attestor: fromViem(attestor), tokens: new Map(known) }
    },
    catch: () => new ChainUnavailable({ chainId, reason: `${guard} does not answer as a trade guard` })
  })
})
