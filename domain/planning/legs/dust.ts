/**
 * An asset outside the allocation is to be sold whole, but no leg may be smaller than the least one. These two see to
 * it that settling the buyers does not leave a piece of it that no later plan could sell.
 */
import type { DraftLeg } from "#domain/planning/legs/DraftLeg.ts"
import type { Imbalance } from "#domain/planning/legs/imbalances.ts"
import { isFine, type Tolerance } from "#domain/planning/Tolerance.ts"

interface WantedLeg {
  readonly seller: Imbalance
  /** Largest first, of which the one at `at` buys. */
  readonly buyers: ReadonlyArray<Imbalance>
  readonly at: number
  /** US dollars (wad). */
  readonly usd: bigint
}

/**
 * The value of the leg, less what another leg of the same seller needs, where it would leave too little for one and
 * another buyer waits for it. The buyer then ends below its target by less than the least leg.
 */
export const sparingDust = ({ at, buyers, seller, usd }: WantedLeg, tolerance: Tolerance): bigint => {
  const { unitUsd, weight } = seller.position
  if (weight > 0n || !isFine(seller.position, tolerance) || !isFine(buyers[at]!.position, tolerance)) return usd
  const restUsd = seller.leftUsd - usd
  if (restUsd < tolerance.marginUsd * 2n || restUsd >= tolerance.tradeUsd) return usd
  const next = buyers[at === 0 ? 1 : 0]
  if (next === undefined || next.openUsd < tolerance.settleUsd) return usd
  const reservedUsd = tolerance.tradeUsd + unitUsd + 1n
  return seller.leftUsd >= tolerance.tradeUsd + reservedUsd ? seller.leftUsd - reservedUsd : usd
}

/** Adds such a piece to the last leg of its seller, where that takes the buyer less than `maxUsd` past its target. */
export const sellDust = (legs: ReadonlyArray<DraftLeg>, maxUsd: bigint, tolerance: Tolerance): void => {
  for (let index = legs.length - 1; index >= 0; index -= 1) {
    const leg = legs[index]!
    const { buyer, seller } = leg
    if (seller.position.weight > 0n || seller.leftRaw === 0n || !isFine(buyer.position, tolerance)) continue
    if (seller.leftUsd - buyer.openUsd >= maxUsd) continue
    leg.sellRaw += seller.leftRaw
    leg.usd += seller.leftUsd
    buyer.openUsd -= seller.leftUsd
    seller.leftRaw = 0n
    seller.leftUsd = 0n
  }
}
