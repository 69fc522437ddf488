/** A value that assets share by their weights. */
import type { PlanPosition } from "#domain/planning/PlanPosition.ts"

/** Each asset is due `position.weight / weight` of `totalUsd` (US dollars, wad). */
export interface Shares {
  readonly positions: ReadonlyArray<PlanPosition>
  /** Weight, above zero. */
  readonly weight: bigint
  readonly totalUsd: bigint
}

/**
 * What weights are worth of a total, US dollars (wad), cut towards zero. Weights are whole basis points that sum to at
 * most 10,000, so at most 140 of any number of assets have different ones: each share is divided once.
 */
export const sharesOf = ({
  totalUsd,
  weight: totalWeight
}: Pick<Shares, "totalUsd" | "weight">): ((weight: bigint) => bigint) => {
  const known = new Map<bigint, bigint>()
  return (weight) => {
    const found = known.get(weight)
    if (found !== undefined) return found
    const share = (weight * totalUsd) / totalWeight
    known.set(weight, share)
    return share
  }
}
