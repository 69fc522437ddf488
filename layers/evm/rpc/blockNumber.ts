/** The number of the block that a multicall reads, as the chain counts its own. */
import { encodeFunctionData, parseAbi } from "viem"
import type { ChainId } from "#domain/Caip.ts"
import { multicall3, multicall3Abi } from "#layers/evm/contracts.ts"
import type { Call, CallResult } from "#layers/evm/rpc/aggregate.ts"
import { uintOf } from "#layers/evm/rpc/multicall.ts"

const blockNumberCall: Call = {
  target: multicall3,
  data: encodeFunctionData({ abi: multicall3Abi, functionName: "getBlockNumber" })
}

/**
 * On Arbitrum `block.number` is Ethereum's; the chain's own number comes from its system contract (ArbSys). Arbitrum
 * One, Sepolia.
 */
const arbitrumChains: ReadonlySet<number> = new Set([42_161, 421_614])
const arbitrumBlockNumberCall: Call = {
  target: "0x0000000000000000000000000000000000000064",
  data: encodeFunctionData({ abi: parseAbi(["function arbBlockNumber() view returns (uint256)"]) })
}

/** Calls of which `blockNumberIn` reads the results. */
export const blockNumberCalls = (chainId: ChainId): ReadonlyArray<Call> =>
  arbitrumChains.has(chainId) ? [blockNumberCall, arbitrumBlockNumberCall] : [blockNumberCall]

/**
 * Null when Multicall3 does not answer. A chain with the id of Arbitrum and without its system contract, as in a
 * sandbox, has the other number.
 */
export const blockNumberIn = (results: ReadonlyArray<CallResult>): bigint | null =>
  results.map(uintOf).findLast((number) => number !== null) ?? null
