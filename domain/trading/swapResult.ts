/** A swap that landed, as it stands in the result of its operation. */
import type { SwapResult } from "#domain/operation/OperationResult.ts"
import { poolCount, type Swap } from "#domain/trading/Swap.ts"

const bps = 10_000n
/** What each pool of a path kept, in basis points, of swaps from before swaps kept what their venue does. */
const unsaidFeeBps = 30n

/** Raw units of what is sold; null where a provider makes the swap, or the venue does not say. */
const feeRawOf = (swap: Swap): bigint | null => {
  const { feeRaw, sellAmountRaw, tool } = swap
  if (tool !== undefined) return null
  if (feeRaw !== undefined) return feeRaw
  let kept = sellAmountRaw
  for (let pool = 0; pool < poolCount(swap); pool++) kept = (kept * (bps - unsaidFeeBps)) / bps
  return sellAmountRaw - kept
}

export const swapResult = (swap: Swap, receivedRaw: bigint | null): SwapResult => ({
  sell: swap.sell,
  buy: swap.buy,
  soldRaw: swap.sellAmountRaw,
  floorRaw: swap.minBuyAmountRaw,
  receivedRaw,
  feeRaw: feeRawOf(swap),
  by: swap.tool ?? swap.venue ?? "venue"
})
