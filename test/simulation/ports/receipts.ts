/** What a simulated chain shows of transactions, as far as it counts as confirmed. */
import { Option } from "effect"
import type { ActionReceipt, SignedTransaction } from "#domain/relay/Transaction.ts"
import type { Delta } from "#test/simulation/world/Accounts.ts"
import type { Including, Chain, Inclusion } from "#test/simulation/world/Chain.ts"

/** Net change of each token of an account. */
export const netOf = (
  { deltas }: { readonly deltas: ReadonlyArray<Delta> },
  account: string
): ActionReceipt["deltas"] => {
  const net = new Map<ActionReceipt["deltas"][number]["assetId"], bigint>()
  for (const delta of deltas)
    if (delta.account === account) net.set(delta.assetId, (net.get(delta.assetId) ?? 0n) + delta.raw)
  return [...net].filter(([, raw]) => raw !== 0n).map(([assetId, raw]) => ({ assetId, raw }))
}

export const receiptOf = ({ inclusion, part }: Including, account: string): ActionReceipt => ({
  actionHash: part.actionHash,
  txHash: inclusion.txHash,
  blockNumber: BigInt(inclusion.block),
  blockHash: inclusion.blockHash,
  success: part.success,
  gasUsed: 100_000n,
  deltas: netOf(part, account)
})

/**
 * The relayer's transaction is out of the race: it was reverted, or another one used its nonce. When it included
 * several, the others may be to blame.
 */
export const lostReceipt = (
  { actionHash, actionCount = 1, txHash }: SignedTransaction,
  own: Inclusion | undefined
): ActionReceipt => ({
  actionHash,
  txHash: own?.txHash ?? txHash,
  blockNumber: BigInt(own?.block ?? 0),
  blockHash: own?.blockHash ?? null,
  success: false,
  ...(actionCount > 1 ? { isBundleReverted: true } : {}),
  gasUsed: 0n,
  deltas: []
})

/**
 * The transaction in a block, or any that it replaces: confirmed, "pending" while it is not, undefined when there is
 * none.
 */
export const ownInclusion = (chain: Chain, { replaces, txHash }: SignedTransaction, confirmed: number) => {
  for (const hash of [txHash, ...replaces]) {
    const found = chain.find(hash)
    if (found !== undefined) return found.block > confirmed ? ("pending" as const) : found
  }
  return undefined
}

/** What became of a user operation; none while it is open. */
export const findOperation = (
  chain: Chain,
  transaction: SignedTransaction,
  { account, confirmed }: { readonly account: string; readonly confirmed: number }
): Option.Option<ActionReceipt> => {
  const own = ownInclusion(chain, transaction, confirmed)
  if (own === "pending") return Option.none()
  const { actionHash } = transaction
  const part = own?.execution.parts.find((one) => one.actionHash === actionHash)
  if (own !== undefined && part !== undefined) return Option.some(receiptOf({ inclusion: own, part }, account))
  const including = chain.bridgeAssetOf(actionHash)
  if (including !== undefined)
    return including.inclusion.block > confirmed ? Option.none() : Option.some(receiptOf(including, account))
  const nonceUsed = chain.usedNonces(transaction.relayer, confirmed) > transaction.nonce
  return own !== undefined || nonceUsed ? Option.some(lostReceipt(transaction, own)) : Option.none()
}
