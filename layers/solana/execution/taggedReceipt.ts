/** The receipt of what transactions without a record did together. */
import { bytesToHex } from "viem"
import type { AssetId } from "#domain/values/Caip.ts"
import type { ActionReceipt } from "#domain/relay/Transaction.ts"
import { feeOf } from "#layers/solana/execution/submitPart.ts"
import type { TaggedTransaction } from "#layers/solana/execution/readTagged.ts"
import type { TransactionTag } from "#layers/solana/execution/transactionTag.ts"
import { weiOfLamport } from "#layers/solana/SolanaFunds.ts"

/** What changed over all of them; a token that was bought by one and sold by another may be left out. */
const changesOver = (transactions: ReadonlyArray<TaggedTransaction>): ActionReceipt["deltas"] => {
  const changes = new Map<AssetId, bigint>()
  const add = (assetId: AssetId, raw: bigint) => changes.set(assetId, (changes.get(assetId) ?? 0n) + raw)
  for (const { after, before } of transactions) {
    for (const { assetId, raw } of after) add(assetId, raw)
    for (const { assetId, raw } of before) add(assetId, -raw)
  }
  return [...changes].filter(([, raw]) => raw !== 0n).map(([assetId, raw]) => ({ assetId, raw }))
}

/** Makes a receipt of transactions with one tag, oldest first; undefined where there are none. */
export const taggedReceipt = (
  { address }: TransactionTag,
  transactions: ReadonlyArray<TaggedTransaction>
): ActionReceipt | undefined => {
  const last = transactions.at(-1)
  if (last === undefined) return undefined
  const included = transactions.map(({ bytes, signature }) => ({
    txHash: signature,
    success: true,
    gasUsed: feeOf({ transaction: bytes })
  }))
  return {
    actionHash: bytesToHex(address.toBytes()),
    txHash: last.signature,
    blockNumber: last.slot,
    blockHash: null,
    success: true,
    gasUsed: included.reduce((sum, { gasUsed }) => sum + gasUsed, 0n),
    gasPriceRaw: weiOfLamport,
    deltas: changesOver(transactions),
    transactions: included
  }
}
