/** The transactions of an operation on one chain, as its result names them, with what the service paid for each. */
import { Effect, Option } from "effect"
import type { ChainId } from "#domain/Caip.ts"
import type { TransactionResult } from "#domain/operation/OperationResult.ts"
import type { GasBudget } from "#domain/relay/GasBudget.ts"
import type { ActionReceipt } from "#domain/relay/Transaction.ts"

/** What the transactions carried: user operations have a hash of their own. */
export type Carried = "user_operation" | "withdrawal"

export const recordedTransactions = (
  { paidUsd }: GasBudget["Service"],
  chainId: ChainId,
  carried: Carried,
  receipts: ReadonlyArray<ActionReceipt>
): Effect.Effect<ReadonlyArray<TransactionResult>> =>
  Effect.forEach(receipts, (receipt) =>
    Effect.map(paidUsd(chainId, receipt), (gasUsd) => ({
      txHash: receipt.txHash,
      userOpHash: carried === "user_operation" ? receipt.subject : null,
      success: receipt.success,
      gasUsed: receipt.gasUsed,
      gasUsd: Option.getOrNull(gasUsd)
    }))
  )
