/** Searches for ends of user operations among the EntryPoint's events. Source: ERC-4337 (UserOperationEvent). */
import { type Address, getAbiItem, type PublicClient } from "viem"
import type { ChainId } from "#domain/values/Caip.ts"
import { entryPoint, entryPointAbi } from "#layers/evm/contracts.ts"
import { type BlockRange, searchLogs } from "#layers/evm/rpc/logSearch.ts"

/** Blocks that one search reaches over at most: past the deadline of every swap. */
export const maxBlocks = 40_000n

/** What a search is about that goes forward from a block up to the head, within the bound above. */
export const rangeFrom = (fromBlock: bigint, head: bigint): BlockRange => {
  const last = fromBlock + maxBlocks - 1n
  return { fromBlock, toBlock: last < head ? last : head }
}

/** `UserOperationEvent` of the EntryPoint. */
export const operationEvent = getAbiItem({ abi: entryPointAbi, name: "UserOperationEvent" })

const read = (client: PublicClient, sender: Address | Array<Address>, range: BlockRange) =>
  client.getLogs({ address: entryPoint, event: operationEvent, args: { sender }, ...range, strict: true })

export type OperationEvent = Awaited<ReturnType<typeof read>>[number]

/** The events of the operations of accounts. */
export const operationEvents = (
  chainId: ChainId,
  sender: Address | Array<Address>,
  search: { readonly range: BlockRange; readonly isEnough?: (found: ReadonlyArray<OperationEvent>) => boolean }
) => searchLogs(chainId, { ...search, read: (client, range) => read(client, sender, range) })
