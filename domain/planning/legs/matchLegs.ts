/**
 * Pairs what has to be sold with what has to be bought.
 *
 * Minimum value: an asset is only sold or only bought, and only as far as its target (or the minimum leg past it).
 * Few legs: amounts that are equal are exchanged for each other first and bring two assets on target in one leg;
 * otherwise the largest amount meets the largest of the other side, and each leg brings one of the two on target. A
 * chain with `n` assets to trade so takes at most `n - 1` legs. (The true minimum is a partition problem, NP-hard.)
 * Both sides stay sorted, so the work is that of sorting them; only a coarse asset, which is exchanged for fine ones
 * alone, is compared with each entry of the other side.
 */
import { sparingDust, withDust } from "#domain/planning/legs/dust.ts"
import type { DraftLeg } from "#domain/planning/legs/DraftLeg.ts"
import type { Imbalance, OpenPositions } from "#domain/planning/legs/imbalances.ts"
import { valueOf } from "#domain/planning/PlanPosition.ts"
import { rawWorth, sizeLeg } from "#domain/planning/legs/sizeLeg.ts"
import { SortedSide } from "#domain/planning/legs/SortedSide.ts"
import { isFine, type Tolerance, type TradeTerms, underMismatch } from "#domain/planning/Tolerance.ts"

/** A seller in the middle of the matching; `openUsd` is below zero once a leg went past its target. */
interface Seller extends Imbalance {
  /** Balance that no leg sells yet, raw and in US dollars (wad). */
  readonly leftRaw: bigint
  readonly leftUsd: bigint
}

/** A leg, and what it leaves of both its sides. */
interface Match {
  readonly leg: DraftLeg
  readonly seller: Seller
  readonly buyer: Imbalance
}

const untouched = ({ openUsd, position }: Imbalance): Seller => ({
  position,
  openUsd,
  leftRaw: position.balanceRaw,
  leftUsd: position.valueUsd
})

/** What holds less than the minimum leg can make none, whatever is bought. */
const canSell = ({ leftUsd, position }: Pick<Seller, "leftUsd" | "position">, tolerance: Tolerance): boolean =>
  leftUsd >= tolerance.tradeUsd || !isFine(position, tolerance)

const matchOf = (seller: Seller, buyer: Imbalance, wantedUsd: bigint): Match => {
  const { position } = seller
  const isWhole = wantedUsd === seller.leftUsd
  const sellRaw = isWhole ? seller.leftRaw : rawWorth(position, wantedUsd)
  const leftRaw = seller.leftRaw - sellRaw
  const leftUsd = isWhole ? 0n : valueOf(position, leftRaw)
  const usd = seller.leftUsd - leftUsd
  return {
    leg: { seller: position, buyer: buyer.position, sellRaw, usd },
    seller: { position, openUsd: seller.openUsd - usd, leftRaw, leftUsd },
    buyer: { position: buyer.position, openUsd: buyer.openUsd - usd }
  }
}

/** The legs for one chain, in the order in which they were found. */
export const matchLegs = (open: OpenPositions, { cost, tolerance: usual }: TradeTerms): ReadonlyArray<DraftLeg> => {
  const tolerance = underMismatch(usual, open.mismatchUsd)
  const terms = { tolerance, cost }
  const sellers = new SortedSide(open.sellers.map(untouched).filter((seller) => canSell(seller, tolerance)))
  const buyers = new SortedSide(open.buyers)
  const legs: Array<DraftLeg> = []
  let isBuyerStranded = false

  const trade = (sellerAt: number, buyerAt: number): Match | undefined => {
    const seller = sellers.entries[sellerAt]!
    const buyer = buyers.entries[buyerAt]!
    const usd = sizeLeg(
      {
        seller: seller.position,
        buyer: buyer.position,
        leftUsd: seller.leftUsd,
        excessUsd: seller.openUsd,
        gapUsd: buyer.openUsd
      },
      terms
    )
    if (usd === 0n) return undefined
    const nextBuyer = buyers.entries[buyerAt === 0 ? 1 : 0]
    const match = matchOf(seller, buyer, sparingDust({ seller, buyer, nextBuyer, usd }, tolerance))
    legs.push(match.leg)
    const isSold = match.seller.openUsd < tolerance.marginUsd || !canSell(match.seller, tolerance)
    sellers.replace(sellerAt, isSold ? undefined : match.seller)
    buyers.replace(buyerAt, match.buyer.openUsd < tolerance.marginUsd ? undefined : match.buyer)
    return match
  }

  const tradeEqual = (seller: Seller): boolean => {
    if (seller.openUsd < tolerance.correctUsd || !canSell(seller, tolerance)) return false
    const buyerAt = buyers.indexOfEqual(seller.openUsd, tolerance.marginUsd)
    return buyerAt >= 0 && trade(sellers.indexOf(seller), buyerAt) !== undefined
  }

  const tradeEqualTo = (buyer: Imbalance): void => {
    if (buyer.openUsd < tolerance.correctUsd) return
    const sellerAt = sellers.indexOfEqual(buyer.openUsd, tolerance.marginUsd)
    if (sellerAt >= 0) trade(sellerAt, buyers.indexOf(buyer))
  }

  const tradeLargest = (seller: Seller, buyer: Imbalance): void => {
    const isSeller = seller.openUsd > buyer.openUsd
    const others = isSeller ? buyers.entries : sellers.entries
    for (let at = 0; at < others.length && others[at]!.openUsd >= tolerance.pastUsd; at += 1) {
      const match = isSeller ? trade(0, at) : trade(at, 0)
      if (match === undefined) continue
      if (!tradeEqual(match.seller)) tradeEqualTo(match.buyer)
      return
    }
    if (isSeller) sellers.replace(0, undefined)
    else buyers.replace(0, undefined)
    isBuyerStranded ||= !isSeller
  }

  for (const seller of sellers.entries.toReversed()) tradeEqual(seller)
  for (;;) {
    const { largest: seller } = sellers
    const { largest: buyer } = buyers
    if (seller === undefined || buyer === undefined) break
    if (seller.openUsd < tolerance.correctUsd && buyer.openUsd < tolerance.correctUsd) break
    tradeLargest(seller, buyer)
  }
  const isBuyerWaiting = isBuyerStranded || (buyers.largest?.openUsd ?? 0n) >= tolerance.correctUsd
  const maxUsd = isBuyerWaiting ? tolerance.marginUsd : tolerance.correctUsd
  return withDust(legs, { buyers: open.buyers, maxUsd }, tolerance)
}
