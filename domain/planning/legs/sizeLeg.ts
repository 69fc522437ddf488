/**
 * How much of one asset to sell for another.
 */
import type { Sale } from "#domain/planning/legs/DraftLeg.ts"
import type { PlanPosition } from "#domain/planning/PlanPosition.ts"
import * as SwapCost from "#domain/planning/SwapCost.ts"
import { isFine, type TradeTerms } from "#domain/planning/Tolerance.ts"

const ceilingOf = (numerator: bigint, denominator: bigint): bigint => (numerator + denominator - 1n) / denominator

/** Raw units of an asset worth at least `usd` (wad). */
export const rawWorth = (position: PlanPosition, usd: bigint): bigint =>
  ceilingOf(usd * position.scale, position.priceUsd)

/** Raw units that a sale buys at the assets' prices, after costs, cut to whole units. */
export const boughtFor = ({ buyer, seller, sellRaw }: Sale, cost: SwapCost.SwapCost): bigint => {
  const sold = sellRaw * seller.priceUsd * cost.kept
  const price = SwapCost.whole * buyer.priceUsd
  // Most tokens have as many decimals as each other.
  return seller.scale === buyer.scale ? sold / price : (sold * buyer.scale) / (price * seller.scale)
}

/** Two assets that may be exchanged for each other, and what of both is open; US dollars (wad). */
interface Pairing {
  readonly seller: PlanPosition
  readonly buyer: PlanPosition
  /** What of the seller is not sold yet. */
  readonly leftUsd: bigint
  /** Excess of the seller above its target. */
  readonly excessUsd: bigint
  /** What has to be sold for the buyer to reach its own. */
  readonly gapUsd: bigint
}

const lesser = (a: bigint, b: bigint): bigint => (a < b ? a : b)

/**
 * Computes the amount that suits both sides. Any amount can be traded, so a leg that would be too small is made as
 * small as legs may be.
 */
const fineUsd = ({ excessUsd, gapUsd, leftUsd }: Pairing, { tolerance }: TradeTerms): bigint => {
  const lesserUsd = lesser(excessUsd, gapUsd)
  if (lesserUsd >= tolerance.tradeUsd) return lesserUsd
  if (excessUsd < tolerance.correctUsd && gapUsd < tolerance.correctUsd) return 0n
  if (lesserUsd < tolerance.pastUsd) return 0n
  return leftUsd >= tolerance.tradeUsd ? tolerance.tradeUsd : 0n
}

/**
 * One side coarse: only whole units of it, and never past the target of either side. A market pays cut to whole units,
 * so what is to buy some is sold with headroom: a little less than their price buys one unit less.
 */
const coarseUsd = ({ buyer, excessUsd, gapUsd, leftUsd, seller }: Pairing, { cost, tolerance }: TradeTerms): bigint => {
  const lesserUsd = lesser(excessUsd, gapUsd)
  if (lesserUsd < tolerance.tradeUsd) return 0n
  let usd: bigint
  if (isFine(seller, tolerance)) {
    const units = (lesserUsd * cost.keptForUnits * buyer.scale) / (SwapCost.whole * buyer.priceUsd)
    usd = ceilingOf(units * buyer.priceUsd * SwapCost.whole, buyer.scale * cost.keptForUnits)
  } else if (lesserUsd === leftUsd) {
    usd = lesserUsd
  } else {
    const units = (lesserUsd * seller.scale) / seller.priceUsd
    usd = (units * seller.priceUsd) / seller.scale
  }
  return usd >= tolerance.tradeUsd ? usd : 0n
}

/**
 * Value to sell in one leg, US dollars (wad); zero when no leg is worth making.
 *
 * The lesser of excess and gap brings one side on target. Where that is less than the minimum leg but the other side is
 * off by more, the minimum leg is made all the same: it takes the lesser side past its target, and leaves both within
 * the tolerance. Two coarse assets are never exchanged, since whole units of one seldom have the value of whole units
 * of the other.
 */
export const sizeLeg = (pairing: Pairing, terms: TradeTerms): bigint => {
  const isSellerFine = isFine(pairing.seller, terms.tolerance)
  const isBuyerFine = isFine(pairing.buyer, terms.tolerance)
  if (!isSellerFine && !isBuyerFine) return 0n
  return isSellerFine && isBuyerFine ? fineUsd(pairing, terms) : coarseUsd(pairing, terms)
}
