/** What an action did, for every reader. Pure. */
import type { OrderOutcome } from "#domain/order/OrderTerms.ts"
import type { ChainId } from "#domain/values/Caip.ts"
import {
  emptyChain,
  type OperationReport,
  operationResult,
  type SwapResult,
  type TransactionResult
} from "#domain/operation/OperationResult.ts"
import { swapResult } from "#domain/trading/swapResult.ts"

export interface OrderFacts {
  readonly chainId: ChainId
  /** Every transaction that was tried, in order. */
  readonly transactions: ReadonlyArray<TransactionResult>
  /** Null when nothing moved; then `failure` says why. */
  readonly outcome: OrderOutcome | null
  readonly failure: string | null
}

const swapsOf = ({ receipt, swap }: OrderOutcome): ReadonlyArray<SwapResult> => {
  if (swap === undefined) return []
  const receivedRaw = receipt.deltas.find(({ assetId }) => assetId === swap.buy)?.raw ?? 0n
  return [swapResult(swap, receivedRaw)]
}

/** The event that says it while the operation is followed. */
export const eventOfOrder = ({ chainId, receipt, swap }: OrderOutcome) => ({
  kind: swap === undefined ? "executed" : "swapped",
  payload: {
    chainId,
    ...(swap && {
      sell: swap.sell,
      buy: swap.buy,
      sellAmountRaw: swap.sellAmountRaw.toString(),
      minBuyAmountRaw: swap.minBuyAmountRaw.toString()
    }),
    userOpHash: receipt.actionHash,
    txHash: receipt.txHash
  }
})

/** What the trade cost beside gas is not known: no plan with prices was made for it. */
export const resultOfOrder = ({ chainId, failure, outcome, transactions }: OrderFacts): OperationReport => ({
  outcome: outcome === null ? "skipped" : "traded",
  result: operationResult(
    [
      {
        ...emptyChain(chainId),
        swaps: outcome === null ? [] : swapsOf(outcome),
        transactions,
        failure
      }
    ],
    outcome?.swap === undefined ? 0n : null
  )
})
