/**
 * Many contract calls as one `eth_call`, all at the same block, through Multicall3. A call that fails spoils no other.
 */
import { type Address, BaseError, decodeFunctionResult, type Hex, type PublicClient } from "viem"
import { callDataOf } from "#layers/evm/callData.ts"
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

const aggregate3 = callDataOf(multicall3Abi, "aggregate3")

export const encodeCalls = (calls: ReadonlyArray<Call>): Hex =>
  aggregate3(calls.map(({ target, data }) => ({ target, allowFailure: true, callData: data })))

export const decodeResults = (data: Hex): ReadonlyArray<CallResult> =>
  decodeFunctionResult({ abi: multicall3Abi, functionName: "aggregate3", data }).map(({ success, returnData }) => ({
    success,
    data: returnData
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
  const results = answer.data === undefined ? [] : decodeResults(answer.data)
  if (results.length !== calls.length) throw new BaseError("Multicall3 did not answer", { name: "MulticallIncomplete" })
  return results
}
