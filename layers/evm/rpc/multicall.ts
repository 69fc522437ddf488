/**
 * Many contract calls at the same block. What only reads is batched with what others read of the chain at that moment
 * (layers/evm/rpc/batchedCalls.ts); a simulation is a request of its own.
 */
import { Effect } from "effect"
import type { ChainId } from "#domain/values/Caip.ts"
import { aggregate, type Call, type CallFrame, latestReading } from "#layers/evm/rpc/aggregate.ts"
import { EvmClients, type Freshness } from "#layers/evm/rpc/EvmClients.ts"

export { uintOf } from "#layers/evm/rpc/abiWords.ts"

/** What the results are of: a block that is named, or the latest, which must be new enough. */
export interface MulticallFrame extends CallFrame, Freshness {}

/** The results in the order of the calls, and their block. */
export const readAtOneBlock = Effect.fnUntraced(function* (
  chainId: ChainId,
  calls: ReadonlyArray<Call>,
  { notBefore, takesOld, ...frame }: MulticallFrame = {}
) {
  const { readCalls, request } = yield* EvmClients
  const freshness = { notBefore, takesOld }
  if (frame.from === undefined && frame.gas === undefined)
    return yield* readCalls(chainId, calls, { blockNumber: frame.blockNumber, ...freshness })
  const shown = frame.blockNumber === undefined ? { ...latestReading, ...freshness } : undefined
  return yield* request(chainId, "eth_call", (client) => aggregate(client, calls, { chainId, ...frame }), shown)
})

/** The results in the order of the calls. */
export const multicall = (chainId: ChainId, calls: ReadonlyArray<Call>, frame: MulticallFrame = {}) =>
  Effect.map(readAtOneBlock(chainId, calls, frame), ({ results }) => results)
