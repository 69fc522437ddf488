/**
 * How much of one asset to sell for another.
 */
import type { Sale } from "#domain/planning/legs/DraftLeg.ts"
import type { Imbalance } from "#domain/planning/legs/imbalances.ts"
import type { Position } from "#domain/planning/Position.ts"
import * as SwapCost from "#domain/planning/SwapCost.ts"
import { isFine, type TradeTerms } from "#domain/planning/Tolerance.ts"

const ceilingOf = (numerator: bigint, denominator: bigint): bigint => (numerator + denominator - 1n) / denominator

/** Raw units of an asset worth at least `usd` (wad). */
export const rawWorth = (position: Position, usd: bigint): bigint => ceilingOf(usd * position.scale, position.priceUsd)

/** Raw units that a sale buys at the assets' prices, after costs, cut to whole units. */
export const boughtFor = ({ buyer, seller, sellRaw }: Sale, cost: SwapCost.SwapCost): bigint => {
  const sold = sellRaw * seller.priceUsd * cost.kept
  const price = SwapCost.whole * buyer.priceUsd
  // Most tokens have as many decimals as each other.
  return seller.scale === buyer.scale ? sold / price : (sold * buyer.scale) / (price * seller.scale)
}

/** What the lesser and the greater side have to trade, US dollars (wad). */
interface Sized {
  readonly seller: Imbalance
  readonly buyer: Imbalance
  readonly lesserUsd: bigint
  readonly greaterUsd: bigint
}

/** Both sides fine: any amount can be traded, so a leg that would be too small is made as small as legs may be. */
const fineUsd = ({ greaterUsd, lesserUsd, seller }: Sized, { tolerance }: TradeTerms): bigint => {
  if (lesserUsd >= tolerance.tradeUsd) return lesserUsd
  if (greaterUsd < tolerance.settleUsd || lesserUsd < tolerance.pastUsd) return 0n
  return seller.leftUsd >= tolerance.tradeUsd ? tolerance.tradeUsd : 0n
}

/** One side coarse: only whole units of it, and never past the target of either side. */
const coarseUsd = (sized: Sized, { cost, tolerance }: TradeTerms): bigint => {
  const { lesserUsd } = sized
  const { leftUsd, position: seller } = sized.seller
  const { position: buyer } = sized.buyer
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
  {
    buyer,
    excessUsd,
    gapUsd,
    seller
  }: {
    readonly seller: Imbalance
    readonly buyer: Imbalance
    readonly excessUsd: bigint
    readonly gapUsd: bigint
  },
  terms: TradeTerms
): bigint => {
  const isSellerFine = isFine(seller.position, terms.tolerance)
  const isBuyerFine = isFine(buyer.position, terms.tolerance)
  if (!isSellerFine && !isBuyerFine) return 0n
  const isSellerLesser = excessUsd < gapUsd
  const sized: Sized = {
    seller,
    buyer,
    lesserUsd: isSellerLesser ? excessUsd : gapUsd,
    greaterUsd: isSellerLesser ? gapUsd : excessUsd
  }
  return isSellerFine && isBuyerFine ? fineUsd(sized, terms) : coarseUsd(sized, terms)
}
