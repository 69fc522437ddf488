/**
 * Whether a chain is far enough off target to trade at all.
 */
import { openPositions } from "#domain/rebalance/openPositions.ts"
import type { Position } from "#domain/rebalance/Position.ts"
import { sizeLeg } from "#domain/rebalance/sizeLeg.ts"
import type { SwapCost } from "#domain/rebalance/SwapCost.ts"
import { type Tolerance, underMismatch } from "#domain/rebalance/Tolerance.ts"

/**
 * True when some leg would be worth making even with every deviation a margin smaller than it is.
 *
 * Measured against the value as it stands. A finished plan leaves no leg worth making, and what it expects of the
 * account is exact to within the margin: on its own result this is false.
 */
export const isOffTarget = (
  positions: ReadonlyArray<Position>,
  weight: bigint,
  valueUsd: bigint,
  tolerance: Tolerance,
  cost: SwapCost
): boolean => {
  const { marginUsd } = tolerance
  const { buyers, mismatchUsd, sellers } = openPositions(positions, weight, valueUsd, marginUsd * 2n, cost)
  const strict = underMismatch(tolerance, mismatchUsd + marginUsd)
  for (const seller of sellers) {
    const excessUsd = seller.openUsd - marginUsd
    for (const buyer of buyers) {
      if (sizeLeg(seller, buyer, excessUsd, buyer.openUsd - marginUsd, strict, cost) > 0n) return true
    }
  }
  return false
}
