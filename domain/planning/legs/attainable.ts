/**
 * How far a chain's targets can be filled where assets above their targets cannot be sold.
 *
 * What such assets hold too much of is missing from the others. Were the others still held to their full shares, those
 * that happen to hold something would keep it and those that hold nothing would get nothing. So all of them are filled
 * to the same part of their shares: the targets share a smaller total, the one at which what is sold pays for what is
 * bought. It depends on what is held and not on where it lies, so a plan that reached it finds it again and trades
 * nothing.
 */
import type { PlanPosition } from "#domain/planning/PlanPosition.ts"
import type { Shares } from "#domain/planning/Shares.ts"
import * as SwapCost from "#domain/planning/SwapCost.ts"

/** Whether all can be traded, so that the targets can share all of the chain at whatever swaps cost. */
export const canFillAll = (positions: ReadonlyArray<PlanPosition>): boolean =>
  positions.every(({ canBuy, canSell, weight }) => canSell && (canBuy || weight === 0n))

/** Sums over the sellers or the buyers: value in US dollars (wad), and weight. */
interface Side {
  readonly usd: bigint
  readonly weight: bigint
}

const nobody: Side = { usd: 0n, weight: 0n }

const including = ({ usd, weight }: Side, position: PlanPosition): Side => ({
  usd: usd + position.valueUsd,
  weight: weight + position.weight
})

const excluding = ({ usd, weight }: Side, position: PlanPosition): Side => ({
  usd: usd - position.valueUsd,
  weight: weight - position.weight
})

/** Fullest first: the order in which they become sellers while the total falls. */
const byFill = (a: PlanPosition, b: PlanPosition): number => {
  const fillOfA = a.valueUsd * b.weight
  const fillOfB = b.valueUsd * a.weight
  return fillOfA === fillOfB ? 0 : fillOfA > fillOfB ? -1 : 1
}

/**
 * The part of the total (US dollars, wad) that the targets can share: all of it where what is above target pays for
 * what is below, or where no target depends on it.
 */
export const attainable = ({ positions, totalUsd, weight: totalWeight }: Shares, cost: SwapCost.SwapCost): bigint => {
  let sellers = nobody
  let buyers = nobody
  for (const position of positions) {
    const isAbove = position.valueUsd * totalWeight > position.weight * totalUsd
    if (isAbove && position.canSell) sellers = including(sellers, position)
    if (!isAbove && position.canBuy) buyers = including(buyers, position)
  }
  const soldUsd = cost.kept * (sellers.usd * totalWeight - sellers.weight * totalUsd)
  const boughtUsd = SwapCost.whole * (buyers.weight * totalUsd - buyers.usd * totalWeight)
  if (boughtUsd <= soldUsd) return totalUsd
  let fillable = positions.filter(
    ({ canSell, valueUsd, weight }) => canSell && weight > 0n && valueUsd * totalWeight <= weight * totalUsd
  )
  const level = () => ({
    usd: SwapCost.whole * buyers.usd + cost.kept * sellers.usd,
    weight: SwapCost.whole * buyers.weight + cost.kept * sellers.weight
  })
  let reached = level()
  const isFuller = ({ valueUsd, weight }: PlanPosition): boolean => valueUsd * reached.weight > reached.usd * weight
  // Only those above the level are put in order: with each that sells the level may fall, and then others are above it.
  for (let fuller = fillable.filter(isFuller); fuller.length > 0; fuller = fillable.filter(isFuller)) {
    let isStopped = false
    for (const position of fuller.sort(byFill)) {
      isStopped = !isFuller(position)
      if (isStopped) break
      if (position.canBuy) buyers = excluding(buyers, position)
      sellers = including(sellers, position)
      reached = level()
    }
    if (isStopped) break
    const moved = new Set(fuller)
    fillable = fillable.filter((position) => !moved.has(position))
  }
  if (reached.weight === 0n) return totalUsd
  const sharedUsd = (totalWeight * reached.usd) / reached.weight
  return sharedUsd < 0n ? 0n : sharedUsd < totalUsd ? sharedUsd : totalUsd
}
