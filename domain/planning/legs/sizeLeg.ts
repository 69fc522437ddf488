/**
 * How much of one asset to sell for another.
 */
import type { Imbalance } from "#domain/planning/legs/imbalances.ts"
import type { Position } from "#domain/planning/Position.ts"
import * as SwapCost from "#domain/planning/SwapCost.ts"
import { isFine, type Tolerance } from "#domain/planning/Tolerance.ts"

const ceilingOf = (numerator: bigint, denominator: bigint): bigint => (numerator + denominator - 1n) / denominator

/** Raw units of an asset worth at least `usd` (wad). */
export const rawWorth = (position: Position, usd: bigint): bigint => ceilingOf(usd * position.scale, position.priceUsd)

/** Raw units that selling `sellRaw` of one asset buys of another at their prices, after costs, cut to whole units. */
export const boughtFor = (seller: Position, buyer: Position, sellRaw: bigint, cost: SwapCost.SwapCost): bigint => {
  const sold = sellRaw * seller.priceUsd * cost.kept
  const price = SwapCost.whole * buyer.priceUsd
  // Most tokens have as many decimals as each other.
  return seller.scale === buyer.scale ? sold / price : (sold * buyer.scale) / (price * seller.scale)
}

/** Both sides fine: any amount can be traded, so a leg that would be too small is made as small as legs may be. */
const fineUsd = (seller: Imbalance, lesserUsd: bigint, greaterUsd: bigint, tolerance: Tolerance): bigint => {
  if (lesserUsd >= tolerance.tradeUsd) return lesserUsd
  if (greaterUsd < tolerance.settleUsd || lesserUsd < tolerance.pastUsd) return 0n
  return seller.leftUsd >= tolerance.tradeUsd ? tolerance.tradeUsd : 0n
}

/** One side coarse: only whole units of it, and never past the target of either side. */
const coarseUsd = (
  { leftUsd, position: seller }: Imbalance,
  { position: buyer }: Imbalance,
  lesserUsd: bigint,
  tolerance: Tolerance,
  cost: SwapCost.SwapCost
): bigint => {
  if (lesserUsd < tolerance.tradeUsd) return 0n
  let usd: bigint
  if (isFine(seller, tolerance)) {
    const units = (lesserUsd * cost.kept * buyer.scale) / (SwapCost.whole * buyer.priceUsd)
    usd = ceilingOf(units * buyer.priceUsd * SwapCost.whole, buyer.scale * cost.kept)
  } else if (lesserUsd === leftUsd) {
    usd = lesserUsd
  } else {
    const units = (lesserUsd * seller.scale) / seller.priceUsd
    usd = (units * seller.priceUsd) / seller.scale
  }
  return usd >= tolerance.tradeUsd ? usd : 0n
}

/**
 * Value to sell in one leg between an asset `excessUsd` above its target and one that takes sales of `gapUsd` to reach
 * its own; zero when no leg is worth making. All in US dollars (wad).
 *
 * The lesser of the two settles one side. Where that is less than the least leg but the other side is off by more, the
 * least leg is made all the same: it takes the lesser side past its target, and leaves both within the tolerance.
 * Two coarse assets are never exchanged, since whole units of one seldom have the value of whole units of the other.
 */
export const sizeLeg = (
  seller: Imbalance,
  buyer: Imbalance,
  excessUsd: bigint,
  gapUsd: bigint,
  tolerance: Tolerance,
  cost: SwapCost.SwapCost
): bigint => {
  const isSellerLesser = excessUsd < gapUsd
  const lesserUsd = isSellerLesser ? excessUsd : gapUsd
  const isSellerFine = isFine(seller.position, tolerance)
  const isBuyerFine = isFine(buyer.position, tolerance)
  if (isSellerFine && isBuyerFine) return fineUsd(seller, lesserUsd, isSellerLesser ? gapUsd : excessUsd, tolerance)
  if (!isSellerFine && !isBuyerFine) return 0n
  return coarseUsd(seller, buyer, lesserUsd, tolerance, cost)
}
