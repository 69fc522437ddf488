/** Searches for ends of user operations among the EntryPoint's events. Source: ERC-4337 (UserOperationEvent). */
import { Effect } from "effect"
import { type Address, getAbiItem, type Hex } from "viem"
import type { ChainId } from "#domain/Caip.ts"
import { entryPoint, entryPointAbi } from "#layers/evm/contracts.ts"
import { EvmClients } from "#layers/evm/rpc/EvmClients.ts"

/**
 * Blocks in one log request: within what public nodes allow. And how many requests: past the deadline of every swap.
 */
const blocksPerRequest = 5_000n
const maxRequests = 8

/** Blocks that one search reaches over at most. */
export const maxBlocks = blocksPerRequest * BigInt(maxRequests)

export interface BlockRange {
  readonly fromBlock: bigint
  readonly toBlock: bigint
}

/** What each request of a search is about, forward from a block up to the head, within the bounds above. */
export const rangesFrom = (from: bigint, head: bigint): ReadonlyArray<BlockRange> =>
  Array.from({ length: maxRequests }, (_, page) => from + BigInt(page) * blocksPerRequest)
    .filter((first) => first <= head)
    .map((fromBlock) => {
      const last = fromBlock + blocksPerRequest - 1n
      return { fromBlock, toBlock: last < head ? last : head }
    })

/** `UserOperationEvent` of the EntryPoint. */
export const operationEvent = getAbiItem({ abi: entryPointAbi, name: "UserOperationEvent" })

/** The events of operations by their hashes, or by the account that they are of. */
export const operationEvents = Effect.fnUntraced(function* (
  chainId: ChainId,
  args: { readonly userOpHash: Hex | Array<Hex> } | { readonly sender: Address },
  range: BlockRange
) {
  const { request } = yield* EvmClients
  return yield* request(chainId, "eth_getLogs", (client) =>
    client.getLogs({ address: entryPoint, event: operationEvent, args, ...range, strict: true })
  )
})
