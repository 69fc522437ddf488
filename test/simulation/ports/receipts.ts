/** What a simulated chain shows of transactions, as far as it counts as settled. */
import { Option } from "effect"
import type { ActionReceipt, SignedTransaction } from "#domain/relay/Transaction.ts"
import type { Chain, Inclusion } from "#test/simulation/world/Chain.ts"

/** Net change of each token of an account. */
export const netOf = ({ execution }: Inclusion, account: string): ActionReceipt["deltas"] => {
  const net = new Map<ActionReceipt["deltas"][number]["assetId"], bigint>()
  for (const delta of execution.deltas)
    if (delta.account === account) net.set(delta.assetId, (net.get(delta.assetId) ?? 0n) + delta.raw)
  return [...net].filter(([, raw]) => raw !== 0n).map(([assetId, raw]) => ({ assetId, raw }))
}

export const receiptOf = (inclusion: Inclusion, subject: string, account: string): ActionReceipt => ({
  subject,
  txHash: inclusion.txHash,
  blockNumber: BigInt(inclusion.block),
  blockHash: inclusion.blockHash,
  success: inclusion.execution.success,
  gasUsed: 100_000n,
  deltas: netOf(inclusion, account)
})

/** The relayer's transaction is out of the race: it was reverted, or another one used its nonce. */
export const lostReceipt = ({ subject, txHash }: SignedTransaction, own: Inclusion | undefined): ActionReceipt => ({
  subject,
  txHash: own?.txHash ?? txHash,
  blockNumber: BigInt(own?.block ?? 0),
  blockHash: own?.blockHash ?? null,
  success: false,
  gasUsed: 0n,
  deltas: []
})

/** The transaction in a block, or any that it replaces: settled, "pending" while it is not, undefined when there is none. */
export const ownInclusion = (chain: Chain, { replaces, txHash }: SignedTransaction, settled: number) => {
  for (const hash of [txHash, ...replaces]) {
    const found = chain.find(hash)
    if (found !== undefined) return found.block > settled ? ("pending" as const) : found
  }
  return undefined
}

/** What became of a user operation; none while it is open. */
export const findOperation = (
  chain: Chain,
  transaction: SignedTransaction,
  account: string,
  settled: number
): Option.Option<ActionReceipt> => {
  const own = ownInclusion(chain, transaction, settled)
  if (own === "pending") return Option.none()
  const { subject } = transaction
  if (own !== undefined && own.subject === subject) return Option.some(receiptOf(own, subject, account))
  const carrier = chain.carrierOf(subject)
  if (carrier !== undefined)
    return carrier.block > settled ? Option.none() : Option.some(receiptOf(carrier, subject, account))
  const nonceUsed = chain.usedNonces(transaction.relayer, settled) > transaction.nonce
  return own !== undefined || nonceUsed ? Option.some(lostReceipt(transaction, own)) : Option.none()
}
