/**
 * The value of a chain once the trades that bring it on target are paid for.
 *
 * Targets are shares of the value that is left after trading, and trading costs a share of what is sold, which depends
 * on the targets. With `S(T)` the value above target and `D(T)` the value to sell to fill what is below it, the value
 * left is the root of `T = V - f * min(S(T), D(T))`: the lesser side limits the trades when some assets cannot be
 * traded, and without such assets both are equal at the root. `T - V` plus `f` times either side is increasing, convex
 * and piecewise linear in `T`, and not negative at `V`. Newton's method from `V` therefore comes down to the root of
 * each without passing it and ends exactly on it after the last change of slope, at most one step for each asset; the
 * greater root is the one of the minimum.
 */
import type { Position } from "#domain/planning/Position.ts"
import * as SwapCost from "#domain/planning/SwapCost.ts"

const sellingRoot = (
  positions: ReadonlyArray<Position>,
  weight: bigint,
  valueUsd: bigint,
  cost: SwapCost.SwapCost
): bigint => {
  let total = valueUsd
  for (;;) {
    let above = 0n
    let aboveWeight = 0n
    for (const position of positions) {
      if (position.canSell && position.valueUsd * weight > position.weight * total) {
        above += position.valueUsd
        aboveWeight += position.weight
      }
    }
    const next =
      (weight * (SwapCost.whole * valueUsd - cost.lost * above)) / (SwapCost.whole * weight - cost.lost * aboveWeight)
    if (next >= total) return total
    total = next
  }
}

const buyingRoot = (
  positions: ReadonlyArray<Position>,
  weight: bigint,
  valueUsd: bigint,
  cost: SwapCost.SwapCost
): bigint => {
  let total = valueUsd
  for (;;) {
    let below = 0n
    let belowWeight = 0n
    for (const position of positions) {
      if (position.canBuy && position.valueUsd * weight < position.weight * total) {
        below += position.valueUsd
        belowWeight += position.weight
      }
    }
    const next = (weight * (cost.kept * valueUsd + cost.lost * below)) / (weight * cost.kept + cost.lost * belowWeight)
    if (next >= total) return total
    total = next
  }
}

/**
 * Value left of `valueUsd` (US dollars, wad, cut towards zero) when every asset that can be traded is brought as close
 * to its share `position.weight / weight` as the others allow. `weight` is above zero.
 */
export const targetAfterCosts = (
  positions: ReadonlyArray<Position>,
  weight: bigint,
  valueUsd: bigint,
  cost: SwapCost.SwapCost
): bigint => {
  if (cost.lost === 0n) return valueUsd
  const selling = sellingRoot(positions, weight, valueUsd, cost)
  const buying = buyingRoot(positions, weight, valueUsd, cost)
  return selling > buying ? selling : buying
}
