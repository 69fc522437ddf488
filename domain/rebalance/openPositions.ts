/**
 * Who has to sell and who has to buy for a chain to reach its targets.
 */
import type { Position } from "#domain/rebalance/Position.ts"
import * as SwapCost from "#domain/rebalance/SwapCost.ts"

export interface OpenPositions {
  readonly sellers: Array<Position>
  readonly buyers: Array<Position>
  /** How much more is to be sold than bought, or the other way round; US dollars (wad) counted on the selling side. */
  readonly mismatchUsd: bigint
}

/**
 * The assets that can be traded and are off their share of `totalUsd` by at least `leastUsd`. Forgets the legs of an
 * earlier attempt.
 */
export const openPositions = (
  positions: ReadonlyArray<Position>,
  weight: bigint,
  totalUsd: bigint,
  leastUsd: bigint,
  cost: SwapCost.SwapCost
): OpenPositions => {
  const sellers: Array<Position> = []
  const buyers: Array<Position> = []
  let netUsd = 0n
  for (const position of positions) {
    if (!position.canSell) continue
    const excessUsd = position.valueUsd - (position.weight * totalUsd) / weight
    if (excessUsd >= 0n) {
      position.openUsd = excessUsd
      netUsd += excessUsd
      if (excessUsd >= leastUsd) sellers.push(position)
    } else if (position.canBuy) {
      position.openUsd = (-excessUsd * SwapCost.whole) / cost.kept
      netUsd -= position.openUsd
      if (position.openUsd >= leastUsd) buyers.push(position)
    }
    position.leftRaw = position.balanceRaw
    position.leftUsd = position.valueUsd
    position.boughtRaw = 0n
  }
  return { sellers, buyers, mismatchUsd: netUsd < 0n ? -netUsd : netUsd }
}
