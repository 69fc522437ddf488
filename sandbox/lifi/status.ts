/** What became of a deposit, in LI.FI's words. */
import { Effect } from "effect"
import { type Hex, isAddressEqual } from "viem"
import { type Deposit, depositsOf, idOf, payoutOf } from "#sandbox/chain/spokePool.ts"
import type { Chain } from "#sandbox/chain/Chain.ts"
import { bridgeTool, lifiToken } from "#sandbox/lifi/quote.ts"
import type { WorldChains } from "#sandbox/chain/SandboxChains.ts"

const tokenAt = (chain: Chain, address: string) => {
  const token = chain.tokens.find((candidate) => isAddressEqual(candidate.address, address as Hex))
  return token === undefined ? undefined : lifiToken(chain, token)
}

const describe = Effect.fnUntraced(function* (
  chains: WorldChains["Service"],
  { deposit, source, txHash }: { readonly source: Chain; readonly deposit: Deposit; readonly txHash: Hex }
) {
  const sending = {
    txHash,
    chainId: source.chainId,
    amount: deposit.amount.toString(),
    token: tokenAt(source, deposit.token)
  }
  const { depositor, recipient } = deposit
  const known = {
    transactionId: idOf(deposit),
    sending,
    tool: bridgeTool,
    fromAddress: depositor,
    toAddress: recipient
  }
  const refunded = yield* payoutOf(source, "Refunded", deposit)
  if (refunded !== null) {
    const receiving = { txHash: refunded.txHash, chainId: source.chainId, amount: refunded.amount.toString() }
    return { ...known, status: "DONE", substatus: "REFUNDED", receiving }
  }
  const destination = chains.find(Number(deposit.destinationChainId))
  const paid = destination === undefined ? null : yield* payoutOf(destination, "Filled", deposit)
  if (destination === undefined || paid === null) {
    const receiving = { chainId: Number(deposit.destinationChainId) }
    return { ...known, status: "PENDING", substatus: "WAIT_DESTINATION_TRANSACTION", receiving }
  }
  const receiving = {
    txHash: paid.txHash,
    chainId: destination.chainId,
    amount: paid.amount.toString(),
    token: tokenAt(destination, paid.token)
  }
  const isAsked = isAddressEqual(paid.token, deposit.destinationToken)
  return { ...known, status: "DONE", substatus: isAsked ? "COMPLETED" : "PARTIAL", receiving }
})

export const lifiStatus = Effect.fnUntraced(function* (
  chains: WorldChains["Service"],
  txHash: Hex,
  fromChain: number | undefined
) {
  const sources = chains.all.filter(({ chainId }) => fromChain === undefined || chainId === fromChain)
  for (const source of sources) {
    const deposits = yield* depositsOf(source, txHash)
    if (deposits === null) continue
    const [deposit] = deposits
    if (deposit === undefined) return { status: "INVALID" }
    return yield* describe(chains, { source, deposit, txHash })
  }
  return { status: "NOT_FOUND" }
})
