/**
 * Which assets have to be sold and bought for a chain to reach its targets.
 */
import type { PlanPosition } from "#domain/planning/PlanPosition.ts"
import { type Shares, sharesOf } from "#domain/planning/Shares.ts"
import * as SwapCost from "#domain/planning/SwapCost.ts"

/** An asset that is off its target. */
export interface Imbalance {
  readonly position: PlanPosition
  /**
   * What is to be traded, US dollars (wad) counted on the selling side: the excess of a seller, or what has to be sold
   * to fill the gap of a buyer.
   */
  readonly openUsd: bigint
}

export interface OpenPositions {
  readonly sellers: ReadonlyArray<Imbalance>
  readonly buyers: ReadonlyArray<Imbalance>
  /** How much more is to be sold than bought, or the other way round; US dollars (wad) counted on the selling side. */
  readonly mismatchUsd: bigint
}

/** The assets that can be traded and are off their share by at least `minUsd`. */
export const imbalances = (
  { positions, totalUsd, weight }: Shares,
  minUsd: bigint,
  cost: SwapCost.SwapCost
): OpenPositions => {
  const sellers: Array<Imbalance> = []
  const buyers: Array<Imbalance> = []
  const shareOf = sharesOf({ totalUsd, weight })
  let netUsd = 0n
  for (const position of positions) {
    if (!position.canSell) continue
    const excessUsd = position.valueUsd - shareOf(position.weight)
    if (excessUsd >= 0n) {
      netUsd += excessUsd
      if (excessUsd >= minUsd) sellers.push({ position, openUsd: excessUsd })
    } else if (position.canBuy) {
      const openUsd = (-excessUsd * SwapCost.whole) / cost.kept
      netUsd -= openUsd
      if (openUsd >= minUsd) buyers.push({ position, openUsd })
    }
  }
  return { sellers, buyers, mismatchUsd: netUsd < 0n ? -netUsd : netUsd }
}
