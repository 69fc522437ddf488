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
 *
 * Reckoned is how far the total falls below `V`. Its slope is known to be at least the part of a sale that is kept, so
 * it falls no further than the side at `V` costs by that, and only the few assets that change sides on the way are
 * computed again.
 */
import type { PlanPosition } from "#domain/planning/PlanPosition.ts"
import type { Shares } from "#domain/planning/Shares.ts"
import * as SwapCost from "#domain/planning/SwapCost.ts"

/** One asset: its distance from its share of `V`, times the weight of the chain. */
interface Distance {
  readonly position: PlanPosition
  readonly excess: bigint
}

/** Sums over the assets above their targets, or below them. */
interface Side {
  readonly distance: bigint
  readonly weight: bigint
}

const nothing: Side = { distance: 0n, weight: 0n }

const plus = (side: Side, distance: bigint, weight: bigint): Side => ({
  distance: side.distance + distance,
  weight: side.weight + weight
})

interface Falling {
  /** Sums over all that stay on the side. */
  readonly staying: Side
  /** What may come or go as the total falls. */
  readonly changing: ReadonlyArray<Distance>
  /** 1 for what is above its target, -1 for what is below. */
  readonly sign: bigint
  readonly slopeAt: (weight: bigint) => bigint
}

/** The root of one side. */
const fallOf = ({ changing, sign, slopeAt, staying }: Falling, lost: bigint): bigint => {
  let fall = 0n
  for (;;) {
    let side = staying
    for (const { excess, position } of changing) {
      if (sign * (excess + position.weight * fall) > 0n) side = plus(side, sign * excess, position.weight)
    }
    const slope = slopeAt(side.weight)
    const next = (lost * side.distance + slope - 1n) / slope
    if (next <= fall) return fall
    fall = next
  }
}

/**
 * Value left of the total (US dollars, wad, cut towards zero) when every asset that can be traded is brought as close
 * to its share as the others allow.
 */
export const targetAfterCosts = (
  { positions, totalUsd: valueUsd, weight }: Shares,
  { kept, lost }: SwapCost.SwapCost
): bigint => {
  if (lost === 0n) return valueUsd
  let above = nothing
  let below = nothing
  const lesser: Array<Distance> = []
  for (const position of positions) {
    const excess = position.valueUsd * weight - position.weight * valueUsd
    if (excess <= 0n) lesser.push({ position, excess })
    else if (position.canSell) above = plus(above, excess, position.weight)
    if (excess < 0n && position.canBuy) below = plus(below, -excess, position.weight)
  }
  const farther = above.distance > below.distance ? above : below
  const maxUsd = (lost * farther.distance) / (kept * weight) + 1n
  const changing = lesser.filter(({ excess, position }) => excess + position.weight * maxUsd >= 0n)
  for (const { excess, position } of changing) {
    if (excess < 0n && position.canBuy) below = plus(below, excess, -position.weight)
  }
  const selling = fallOf(
    {
      staying: above,
      changing: changing.filter(({ position }) => position.canSell),
      sign: 1n,
      slopeAt: (sold) => SwapCost.whole * weight - lost * sold
    },
    lost
  )
  const buying = fallOf(
    {
      staying: below,
      changing: changing.filter(({ position }) => position.canBuy),
      sign: -1n,
      slopeAt: (bought) => kept * weight + lost * bought
    },
    lost
  )
  return valueUsd - (selling < buying ? selling : buying)
}
