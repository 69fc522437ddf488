/**
 * Many contract calls at the same block. What only reads is gathered with what others read of the chain at that moment
 * (layers/evm/rpc/gatheredCalls.ts); a simulation is a request of its own.
 */
import { Effect } from "effect"
import { hexToBigInt, size } from "viem"
import type { ChainId } from "#domain/Caip.ts"
import { aggregate, type Call, type CallFrame, type CallResult } from "#layers/evm/rpc/aggregate.ts"
import { EvmClients } from "#layers/evm/rpc/EvmClients.ts"

/** The results in the order of the calls. */
export const multicall = Effect.fnUntraced(function* (
  chainId: ChainId,
  calls: ReadonlyArray<Call>,
  frame: CallFrame = {}
) {
  const { gather, request } = yield* EvmClients
  return frame.from === undefined && frame.gas === undefined
    ? yield* gather(chainId, calls, frame.blockNumber)
    : yield* request(chainId, "eth_call", (client) => aggregate(client, calls, frame))
})

/** The 256-bit number that a call returned; null when it failed or returned something else. */
export const uintOf = (result: CallResult | undefined): bigint | null =>
  result?.success === true && size(result.data) === 32 ? hexToBigInt(result.data) : null
