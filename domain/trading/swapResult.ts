/** A swap that landed, as it stands in the result of its operation. */
import type { SwapResult } from "#domain/operation/OperationResult.ts"
import type { Swap } from "#domain/trading/Swap.ts"

export const swapResult = (swap: Swap, receivedRaw: bigint | null): SwapResult => ({
  sell: swap.sell,
  buy: swap.buy,
  soldRaw: swap.sellAmountRaw,
  minOutRaw: swap.minBuyAmountRaw,
  receivedRaw,
  feeRaw: swap.tool === undefined ? (swap.feeRaw ?? null) : null,
  by: swap.tool ?? swap.venue ?? "venue"
})
