import type { DraftLeg } from "#domain/rebalance/DraftLeg.ts"
import type { Position } from "#domain/rebalance/Position.ts"
import { boughtFor } from "#domain/rebalance/sizeLeg.ts"
import type { SwapCost } from "#domain/rebalance/SwapCost.ts"

/** Completes the legs with what they buy, and gives the positions that they leave, in the same order. */
export const resultOf = (
  positions: ReadonlyArray<Position>,
  legs: ReadonlyArray<DraftLeg>,
  cost: SwapCost
): ReadonlyArray<Position> => {
  for (const leg of legs) {
    leg.buyRaw = boughtFor(leg.seller, leg.buyer, leg.sellRaw, cost)
    leg.buyer.boughtRaw += leg.buyRaw
  }
  return positions.map((position) => {
    const balanceRaw = position.leftRaw + position.boughtRaw
    if (balanceRaw === position.balanceRaw) return position
    return { ...position, balanceRaw, valueUsd: (balanceRaw * position.priceUsd) / position.scale }
  })
}
