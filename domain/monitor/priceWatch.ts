/**
 * Computes the prices within which nothing can change for a trigger: a price tick costs something only where it leaves
 * such a range. What holds is exact; where a trigger is closer to its level than a basis point of the prices, the range
 * is one basis point all the same, and the next check catches what it missed.
 */
import type { AssetId } from "#domain/values/Caip.ts"
import { isQuiet } from "#domain/monitor/edge.ts"
import type { Measured } from "#domain/monitor/measure.ts"
import { bps } from "#domain/monitor/shares.ts"
import type { Level } from "#domain/monitor/Trigger.ts"

/** A price at `low` or below it, or at `high` or above it, makes a check due. US dollars (wad); null: no such bound. */
export interface PriceWatch {
  readonly assetId: AssetId
  readonly low: bigint | null
  readonly high: bigint | null
}

/** Beyond half of its price in either direction a check is worth its cost anyway. */
const widest = 5_000n

/** The greatest distance at which the trigger keeps quiet, basis points, at least one. */
const quietDistance = (level: Level, isArmed: boolean, { span }: Measured): bigint => {
  let [quiet, most] = [1n, widest]
  while (quiet < most) {
    const middle = (quiet + most + 1n) / 2n
    if (isQuiet(level, isArmed, span(middle))) quiet = middle
    else most = middle - 1n
  }
  return quiet
}

/** The level of the price itself. Back without hysteresis is a step off the level. */
const watchOfPrice = ({ comparison, rearm, threshold }: Level, isArmed: boolean) => {
  const isAbove = comparison === "above"
  const at = isArmed ? threshold : rearm === threshold ? threshold + (isAbove ? -1n : 1n) : rearm
  return isAbove === isArmed ? { low: null, high: at } : { low: at, high: null }
}

export const priceWatches = (level: Level, isArmed: boolean, measured: Measured): ReadonlyArray<PriceWatch> => {
  if (measured.isPrice) {
    const watch = watchOfPrice(level, isArmed)
    return [...measured.prices.keys()].map((assetId) => ({ assetId, ...watch }))
  }
  if (measured.prices.size === 0) return []
  const delta = quietDistance(level, isArmed, measured)
  return [...measured.prices].map(([assetId, price]) => ({
    assetId,
    // Rounded inwards, so that a range is never wider than what was checked.
    low: (price * (bps - delta)) / bps + 1n,
    high: (price * (bps + delta)) / bps
  }))
}
