/**
 * Many contract calls as one `eth_call`, all at the same block, through Multicall3, which answers that block too. A
 * call that fails spoils no other.
 */
import {
  type Address,
  BaseError,
  encodeFunctionData,
  getAbiItem,
  type Hex,
  isHex,
  parseAbi,
  type PublicClient,
  toFunctionSelector
} from "viem"
import type { ChainId } from "#domain/values/Caip.ts"
import {
  addressWord,
  arrayWords,
  bytesAt,
  bytesWords,
  itemsAt,
  numberAt,
  numberWord,
  uintOf
} from "#layers/evm/rpc/abiWords.ts"
import type { OldAnswer, Shown } from "#layers/evm/rpc/Endpoint.ts"
import { multicall3, multicall3Abi } from "#layers/evm/contracts.ts"

export interface Call {
  readonly target: Address
  readonly data: Hex
}

/** What one call answered: return data, or the revert data when it failed. Both empty at an address without code. */
export interface CallResult {
  readonly success: boolean
  readonly data: Hex
}

export interface CallFrame {
  /** The sender of the outermost call and how much gas it may use; for simulations. */
  readonly from?: Address
  readonly gas?: bigint
  /** The latest when left out. */
  readonly blockNumber?: bigint | undefined
}

interface BlockOfReading {
  readonly blockNumber: bigint
  /** Seconds since 1970, by the chain. */
  readonly timestamp: bigint
}

/** Results in the order of the calls, and the block that all of them are of. */
export interface Reading extends BlockOfReading {
  readonly results: ReadonlyArray<CallResult>
  /** Left out of a reading that is new enough for whoever asked. */
  readonly old?: OldAnswer
}

/** How a reading of the latest block is judged. */
export const latestReading: Shown<Reading> = {
  blockOf: ({ blockNumber }) => blockNumber,
  timeOf: ({ timestamp }) => timestamp,
  markOld: (reading, old) => ({ ...reading, old })
}

const timestampCall: Call = {
  target: multicall3,
  data: encodeFunctionData({ abi: multicall3Abi, functionName: "getCurrentBlockTimestamp" })
}
const blockNumberCall: Call = {
  target: multicall3,
  data: encodeFunctionData({ abi: multicall3Abi, functionName: "getBlockNumber" })
}

/**
 * Chains whose `block.number` is Ethereum's; the chain's own number comes from its system contract (ArbSys). Arbitrum
 * One, Sepolia.
 */
const arbitrumChains: ReadonlySet<number> = new Set([42_161, 421_614])
const arbitrumBlockNumberCall: Call = {
  target: "0x0000000000000000000000000000000000000064",
  data: encodeFunctionData({ abi: parseAbi(["function arbBlockNumber() view returns (uint256)"]) })
}

/** Calls of which `blockIn` reads the results. */
const blockCalls = (chainId: ChainId): ReadonlyArray<Call> => [
  timestampCall,
  blockNumberCall,
  ...(arbitrumChains.has(chainId) ? [arbitrumBlockNumberCall] : [])
]

/**
 * Null when Multicall3 does not answer. A chain with the id of Arbitrum and without its system contract, as in a
 * sandbox, has the other number.
 */
const blockIn = ([time, ...numbers]: ReadonlyArray<CallResult>): BlockOfReading | null => {
  const timestamp = uintOf(time)
  const blockNumber = numbers.map(uintOf).findLast((number) => number !== null)
  return timestamp === null || blockNumber == null ? null : { blockNumber, timestamp }
}

const aggregate3 = toFunctionSelector(getAbiItem({ abi: multicall3Abi, name: "aggregate3" }))
/** A call may fail without the others. */
const allowsFailure = numberWord(1)

/** Calldata of `aggregate3`: an array of structs of target, whether it may fail, and where its data begins. */
export const encodeCalls = (calls: ReadonlyArray<Call>): Hex => {
  const structs = calls.map(
    ({ data, target }) => addressWord(target) + allowsFailure + numberWord(3 * 32) + bytesWords(data)
  )
  return `${aggregate3}${numberWord(32)}${arrayWords(structs)}`
}

/** Decodes an array of structs of whether it succeeded, and where its data begins. Throws when it is none. */
export const decodeResults = (data: Hex): ReadonlyArray<CallResult> =>
  itemsAt(data, numberAt(data, 0)).map((at) => ({
    success: numberAt(data, at) === 1,
    data: bytesAt(data, at + numberAt(data, at + 32))
  }))

/** Fails where Multicall3 does not answer. */
export const aggregate = async (
  client: PublicClient,
  calls: ReadonlyArray<Call>,
  { blockNumber, chainId, from, gas }: CallFrame & { readonly chainId: ChainId }
): Promise<Reading> => {
  const ofBlock = blockCalls(chainId)
  const answer = await client.call({
    to: multicall3,
    data: encodeCalls([...ofBlock, ...calls]),
    ...(from === undefined ? {} : { account: from }),
    ...(gas === undefined ? {} : { gas }),
    ...(blockNumber === undefined ? {} : { blockNumber })
  })
  const results = isHex(answer.data) ? decodeResults(answer.data) : []
  const block = blockIn(results.slice(0, ofBlock.length))
  if (block === null || results.length !== ofBlock.length + calls.length)
    throw new BaseError("Multicall3 did not answer", { name: "MulticallIncomplete" })
  return { ...block, results: results.slice(ofBlock.length) }
}
