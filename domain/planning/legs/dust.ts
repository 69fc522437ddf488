/**
 * An asset outside the allocation is to be sold whole, but no leg may be smaller than the minimum. These two see to
 * it that serving the buyers does not leave a piece of it that no later plan could sell.
 */
import type { DraftLeg } from "#domain/planning/legs/DraftLeg.ts"
import type { Imbalance } from "#domain/planning/legs/imbalances.ts"
import { type PlanPosition, valueOf } from "#domain/planning/PlanPosition.ts"
import { isFine, type Tolerance } from "#domain/planning/Tolerance.ts"

interface WantedLeg {
  readonly seller: { readonly position: PlanPosition; readonly leftUsd: bigint }
  readonly buyer: Imbalance
  /** The largest buyer beside this one. */
  readonly nextBuyer: Imbalance | undefined
  /** US dollars (wad). */
  readonly usd: bigint
}

/**
 * The value of the leg, less what another leg of the same seller needs, where it would leave too little for one and
 * another buyer waits for it. The buyer then ends below its target by less than the minimum leg.
 */
export const sparingDust = ({ buyer, nextBuyer, seller, usd }: WantedLeg, tolerance: Tolerance): bigint => {
  const { unitUsd, weight } = seller.position
  if (weight > 0n || !isFine(seller.position, tolerance) || !isFine(buyer.position, tolerance)) return usd
  const restUsd = seller.leftUsd - usd
  if (restUsd < tolerance.marginUsd * 2n || restUsd >= tolerance.tradeUsd) return usd
  if (nextBuyer === undefined || nextBuyer.openUsd < tolerance.correctUsd) return usd
  const reservedUsd = tolerance.tradeUsd + unitUsd + 1n
  return seller.leftUsd >= tolerance.tradeUsd + reservedUsd ? seller.leftUsd - reservedUsd : usd
}

interface Served {
  /** Buyers as they were before the legs. */
  readonly buyers: ReadonlyArray<Imbalance>
  /** How far a buyer may come past its target, US dollars (wad). */
  readonly maxUsd: bigint
}

/** What the legs leave of each asset outside the allocation that they sell, raw; all that is sold whole left out. */
const piecesOf = (legs: ReadonlyArray<DraftLeg>): Map<PlanPosition, bigint> => {
  const pieces = new Map<PlanPosition, bigint>()
  for (const { seller, sellRaw } of legs) {
    if (seller.weight > 0n) continue
    const raw = (pieces.get(seller) ?? seller.balanceRaw) - sellRaw
    if (raw === 0n) pieces.delete(seller)
    else pieces.set(seller, raw)
  }
  return pieces
}

/** What the legs leave a buyer to buy, US dollars (wad) counted on the selling side. */
const gapOf = (position: PlanPosition, buyers: ReadonlyArray<Imbalance>, legs: ReadonlyArray<DraftLeg>): bigint => {
  const { openUsd } = buyers.find((buyer) => buyer.position === position)!
  return legs.reduce((gapUsd, { buyer, usd }) => (buyer === position ? gapUsd - usd : gapUsd), openUsd)
}

/** The legs, with such a piece added to the last leg of its seller that takes the buyer less than `maxUsd` too far. */
export const withDust = (
  legs: ReadonlyArray<DraftLeg>,
  { buyers, maxUsd }: Served,
  tolerance: Tolerance
): ReadonlyArray<DraftLeg> => {
  const pieces = piecesOf(legs)
  if (pieces.size === 0) return legs
  const whole = [...legs]
  for (let index = legs.length - 1; index >= 0; index -= 1) {
    const leg = legs[index]!
    const raw = leg.seller.weight > 0n ? undefined : pieces.get(leg.seller)
    if (raw === undefined || !isFine(leg.buyer, tolerance)) continue
    const usd = valueOf(leg.seller, raw)
    if (usd - gapOf(leg.buyer, buyers, whole) >= maxUsd) continue
    whole[index] = { ...leg, sellRaw: leg.sellRaw + raw, usd: leg.usd + usd }
    pieces.delete(leg.seller)
  }
  return whole
}
