/** A swap that landed, as it stands in the result of its operation. */
import type { SwapResult } from "#domain/operation/OperationResult.ts"
import type { Swap } from "#domain/trading/Swap.ts"

const bps = 10_000n

/** What the venue keeps, hop after hop, in raw units of what is sold; null where a provider makes the swap. */
const venueFeeRaw = ({ path, sellAmountRaw, tool }: Swap, hopFeeBps: number): bigint | null => {
  if (tool !== undefined) return null
  let kept = sellAmountRaw
  for (let hop = 1; hop < path.length; hop++) kept = (kept * (bps - BigInt(hopFeeBps))) / bps
  return sellAmountRaw - kept
}

export const swapResult = (swap: Swap, receivedRaw: bigint | null, hopFeeBps: number): SwapResult => ({
  sell: swap.sell,
  buy: swap.buy,
  soldRaw: swap.sellAmountRaw,
  floorRaw: swap.minBuyAmountRaw,
  receivedRaw,
  feeRaw: venueFeeRaw(swap, hopFeeBps),
  by: swap.tool ?? "venue"
})
