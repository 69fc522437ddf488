/** The transactions of an operation on one chain, as its result names them, with what the service paid for each. */
import { Effect, Option } from "effect"
import type { ChainId } from "#domain/values/Caip.ts"
import type { TransactionResult } from "#domain/operation/OperationResult.ts"
import type { GasBudget } from "#domain/relay/GasBudget.ts"
import type { ActionReceipt } from "#domain/relay/Transaction.ts"

/** What the transactions include: user operations have a hash of their own. */
type Contents = "user_operation" | "withdrawal"

/** The receipts of an operation on one chain. */
interface ReceiptsWithContents {
  readonly chainId: ChainId
  readonly contents: Contents
  readonly receipts: ReadonlyArray<ActionReceipt>
}

export const recordedTransactions = (
  { paidUsd }: GasBudget["Service"],
  { contents, chainId, receipts }: ReceiptsWithContents
): Effect.Effect<ReadonlyArray<TransactionResult>> =>
  Effect.forEach(receipts.flatMap(transactionsOf), ({ userOpHash, ...transaction }) =>
    Effect.map(paidUsd(chainId, transaction), (gasUsd) => ({
      txHash: transaction.txHash,
      userOpHash: contents === "user_operation" ? userOpHash : null,
      success: transaction.success,
      gasUsed: transaction.gasUsed,
      gasUsd: Option.getOrNull(gasUsd)
    }))
  )

interface Included extends Pick<ActionReceipt, "txHash" | "success" | "gasUsed" | "gasPriceRaw" | "dataFeeRaw"> {
  readonly userOpHash: string | null
}

/** Steps have no hash beside their transaction's. */
const transactionsOf = (receipt: ActionReceipt): ReadonlyArray<Included> =>
  receipt.transactions === undefined
    ? [{ ...receipt, userOpHash: receipt.actionHash }]
    : receipt.transactions.map((one) => ({
        ...one,
        userOpHash: null,
        ...(receipt.gasPriceRaw === undefined ? {} : { gasPriceRaw: receipt.gasPriceRaw })
      }))
