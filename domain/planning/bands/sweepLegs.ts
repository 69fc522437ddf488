/**
 * What is no target and too small to be sold by itself, sold together: once several such holdings are worth the minimum
 * trade in sum, each is sold for the asset that lacks most.
 */
import type { DraftLeg } from "#domain/planning/legs/DraftLeg.ts"
import type { Drift } from "#domain/planning/bands/drift.ts"
import type { Leg } from "#domain/planning/Plan.ts"
import type { PolicyTerms } from "#domain/planning/bands/PolicyTerms.ts"
import { isFine } from "#domain/planning/Tolerance.ts"

export const sweepLegs = (
  drifts: ReadonlyArray<Drift>,
  legs: ReadonlyArray<Leg>,
  { policy: { minSweepUsd }, tolerance }: PolicyTerms
): ReadonlyArray<DraftLeg> => {
  const sold = new Set(legs.map(({ sell }) => sell))
  const small = drifts.filter(
    ({ position: { assetId, canSell, valueUsd, weight } }) =>
      weight === 0n && canSell && !sold.has(assetId) && valueUsd >= minSweepUsd && valueUsd < tolerance.tradeUsd
  )
  const sumUsd = small.reduce((sum, { position }) => sum + position.valueUsd, 0n)
  if (sumUsd < tolerance.tradeUsd) return []
  const buyer = drifts
    .filter(({ position }) => position.canBuy && isFine(position, tolerance) && !sold.has(position.assetId))
    .reduce<Drift | undefined>(
      (most, one) => (most === undefined || one.excessUsd < most.excessUsd ? one : most),
      undefined
    )
  if (buyer === undefined) return []
  return small.map(({ position }) => ({
    seller: position,
    buyer: buyer.position,
    sellRaw: position.balanceRaw - position.incomingRaw,
    usd: position.valueUsd
  }))
}
