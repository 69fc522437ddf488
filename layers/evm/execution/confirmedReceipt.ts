/**
 * Receipts that count: their block is part of the chain, and as many blocks as the deployment requires confirm it.
 * Until then a reorganization may take a receipt away again, and the transaction waits as if there were none.
 */
import { Effect } from "effect"
import type { Hex } from "viem"
import type { ChainId } from "#domain/values/Caip.ts"
import { EvmClients, type Freshness } from "#layers/evm/rpc/EvmClients.ts"
import { receiptOf } from "#layers/evm/execution/sendTransaction.ts"

/** The chain's latest block, and the latest one whose transactions count. */
export interface Depth {
  readonly head: bigint
  readonly confirmed: bigint
}

/** The head of a node that is as far as the chain was seen to be; `freshness` is of the block that counts. */
export const readDepth = Effect.fnUntraced(function* (chainId: ChainId, { notBefore, takesOld }: Freshness = {}) {
  const { chain, request } = yield* EvmClients
  const { confirmations } = yield* chain(chainId)
  const head = yield* request(chainId, "eth_blockNumber", (client) => client.getBlockNumber({ cacheTime: 0 }), {
    blockOf: (block) => block,
    notBefore: notBefore === undefined ? undefined : notBefore + BigInt(confirmations) - 1n,
    takesOld
  })
  const confirmed = head - BigInt(confirmations) + 1n
  return { head, confirmed: confirmed > 0n ? confirmed : 0n } satisfies Depth
})

/** The receipt; "pending" while the chain shows one that does not count yet, null while it shows none. */
export const confirmedReceipt = Effect.fnUntraced(function* (chainId: ChainId, hash: Hex, confirmed: bigint) {
  const { request } = yield* EvmClients
  const receipt = yield* request(chainId, "eth_getTransactionReceipt", (client) => receiptOf(client, hash))
  if (receipt === null) return null
  if (receipt.blockNumber > confirmed) return "pending" as const
  const block = yield* request(chainId, "eth_getBlockByNumber", (client) =>
    client.getBlock({ blockNumber: receipt.blockNumber })
  )
  return block.hash === receipt.blockHash ? receipt : ("pending" as const)
})

/** The first receipt of several transactions, of which only one can land. */
export const confirmedReceiptOf = Effect.fnUntraced(function* (
  chainId: ChainId,
  hashes: ReadonlyArray<string>,
  confirmed: bigint
) {
  for (const hash of hashes) {
    const receipt = yield* confirmedReceipt(chainId, hash as Hex, confirmed)
    if (receipt !== null) return receipt
  }
  return null
})
