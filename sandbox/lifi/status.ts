/** What became of a lock, in LI.FI's words. */
import { Effect } from "effect"
import { type Hex, isAddressEqual } from "viem"
import { type Locked, locksOf, payoutOf } from "#sandbox/chain/bridgeVault.ts"
import type { Chain } from "#sandbox/chain/Chain.ts"
import { lifiToken } from "#sandbox/lifi/quote.ts"
import type { WorldChains } from "#sandbox/chain/SandboxChains.ts"

const tokenAt = (chain: Chain, address: string) => {
  const token = chain.tokens.find((candidate) => isAddressEqual(candidate.address, address as Hex))
  return token === undefined ? undefined : lifiToken(chain, token)
}

const describe = Effect.fnUntraced(function* (
  chains: WorldChains["Service"],
  { lock, source, txHash }: { readonly source: Chain; readonly lock: Locked; readonly txHash: Hex }
) {
  const sending = {
    txHash,
    chainId: source.chainId,
    amount: lock.amount.toString(),
    token: tokenAt(source, lock.token)
  }
  const known = { transactionId: lock.id, sending, tool: "vault", fromAddress: lock.sender, toAddress: lock.recipient }
  const refunded = yield* payoutOf(source, "Refunded", lock.id)
  if (refunded !== null) {
    const receiving = { txHash: refunded.txHash, chainId: source.chainId, amount: refunded.amount.toString() }
    return { ...known, status: "DONE", substatus: "REFUNDED", receiving }
  }
  const destination = chains.find(Number(lock.destinationChainId))
  const paid = destination === undefined ? null : yield* payoutOf(destination, "Released", lock.id)
  if (destination === undefined || paid === null) {
    const receiving = { chainId: Number(lock.destinationChainId) }
    return { ...known, status: "PENDING", substatus: "WAIT_DESTINATION_TRANSACTION", receiving }
  }
  const receiving = {
    txHash: paid.txHash,
    chainId: destination.chainId,
    amount: paid.amount.toString(),
    token: tokenAt(destination, paid.token)
  }
  const isAsked = isAddressEqual(paid.token, lock.destinationToken)
  return { ...known, status: "DONE", substatus: isAsked ? "COMPLETED" : "PARTIAL", receiving }
})

export const lifiStatus = Effect.fnUntraced(function* (
  chains: WorldChains["Service"],
  txHash: Hex,
  fromChain: number | undefined
) {
  const sources = chains.all.filter(({ chainId }) => fromChain === undefined || chainId === fromChain)
  for (const source of sources) {
    const locks = yield* locksOf(source, txHash)
    if (locks === null) continue
    const [lock] = locks
    if (lock === undefined) return { status: "INVALID" }
    return yield* describe(chains, { source, lock, txHash })
  }
  return { status: "NOT_FOUND" }
})
