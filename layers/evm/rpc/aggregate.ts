/**
 * Many contract calls as one `eth_call`, all at the same block, through Multicall3. A call that fails spoils no other.
 */
import { type Address, BaseError, getAbiItem, type Hex, isHex, type PublicClient, toFunctionSelector } from "viem"
import {
  addressWord,
  arrayWords,
  bytesAt,
  bytesWords,
  itemsAt,
  numberAt,
  numberWord
} from "#layers/evm/rpc/abiWords.ts"
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

/** Of an array of structs of whether it succeeded, and where its data begins. Throws when it is none. */
export const decodeResults = (data: Hex): ReadonlyArray<CallResult> =>
  itemsAt(data, numberAt(data, 0)).map((at) => ({
    success: numberAt(data, at) === 1,
    data: bytesAt(data, at + numberAt(data, at + 32))
  }))

/** The results in the order of the calls. */
export const aggregate = async (
  client: PublicClient,
  calls: ReadonlyArray<Call>,
  { blockNumber, from, gas }: CallFrame = {}
): Promise<ReadonlyArray<CallResult>> => {
  const answer = await client.call({
    to: multicall3,
    data: encodeCalls(calls),
    ...(from === undefined ? {} : { account: from }),
    ...(gas === undefined ? {} : { gas }),
    ...(blockNumber === undefined ? {} : { blockNumber })
  })
  const results = isHex(answer.data) ? decodeResults(answer.data) : []
  if (results.length !== calls.length) throw new BaseError("Multicall3 did not answer", { name: "MulticallIncomplete" })
  return results
}
