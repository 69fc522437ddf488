/**
 * Pairs what has to be sold with what has to be bought.
 *
 * Least value: an asset is only sold or only bought, and only as far as its target (or the least leg past it).
 * Few legs: amounts that are equal are exchanged for each other first and settle two assets in one leg; otherwise the
 * largest amount meets the largest of the other side, and each leg settles one of the two. A chain with `n` assets to
 * trade so takes at most `n - 1` legs. (The true minimum is a partition problem, NP-hard.) Both sides stay sorted, so
 * the work is that of sorting them; only a coarse asset, which is exchanged for fine ones alone, is compared with each
 * entry of the other side.
 */
import type { DraftLeg } from "#domain/planning/legs/DraftLeg.ts"
import type { Imbalance, OpenPositions } from "#domain/planning/legs/imbalances.ts"
import { valueOf } from "#domain/planning/Position.ts"
import { sellDust, sparingDust } from "#domain/planning/legs/dust.ts"
import { rawWorth, sizeLeg } from "#domain/planning/legs/sizeLeg.ts"
import { isFine, type Tolerance, type TradeTerms, underMismatch } from "#domain/planning/Tolerance.ts"

/** Largest first; equal amounts in the order of their ids, so that the order of the input decides nothing. */
const byOpenValue = (a: Imbalance, b: Imbalance): number => {
  if (a.openUsd !== b.openUsd) return a.openUsd > b.openUsd ? -1 : 1
  return a.position.assetId < b.position.assetId ? -1 : 1
}

/** Where on a sorted side the first amount stands, from `from` on, that is at most `maxUsd`. */
const firstWithin = (side: ReadonlyArray<Imbalance>, maxUsd: bigint, from = 0): number => {
  let low = from
  let high = side.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (side[middle]!.openUsd > maxUsd) low = middle + 1
    else high = middle
  }
  return low
}

/** Where on a sorted side an entry stands that is on it. */
const indexOf = (side: ReadonlyArray<Imbalance>, entry: Imbalance): number => {
  let at = firstWithin(side, entry.openUsd)
  while (side[at] !== entry) at += 1
  return at
}

/**
 * Restores the order by amount after the entry at `index` became smaller; drops it when nothing can be made of it any
 * more.
 */
const sink = (side: Array<Imbalance>, index: number, isDone: boolean): void => {
  if (isDone) {
    side.splice(index, 1)
    return
  }
  const moved = side[index]!
  const end = firstWithin(side, moved.openUsd, index + 1)
  for (let at = index; at < end - 1; at += 1) side[at] = side[at + 1]!
  side[end - 1] = moved
}

/** Where on a sorted side an amount stands that differs from `usd` by no more than the margin; -1 when nowhere. */
const indexOfEqual = (side: ReadonlyArray<Imbalance>, usd: bigint, { marginUsd }: Tolerance): number => {
  const at = firstWithin(side, usd + marginUsd)
  return at < side.length && side[at]!.openUsd >= usd - marginUsd ? at : -1
}

/** Moves the leg out of the balance of its seller and out of what both sides still have to trade. */
const draft = (seller: Imbalance, buyer: Imbalance, wantedUsd: bigint): DraftLeg => {
  const sellRaw = wantedUsd === seller.leftUsd ? seller.leftRaw : rawWorth(seller.position, wantedUsd)
  const leftRaw = seller.leftRaw - sellRaw
  const leftUsd = valueOf(seller.position, leftRaw)
  const usd = seller.leftUsd - leftUsd
  seller.leftRaw = leftRaw
  seller.leftUsd = leftUsd
  seller.openUsd -= usd
  buyer.openUsd -= usd
  return { seller, buyer, sellRaw, usd }
}

/** The legs for one chain, in the order in which they were found. The entries of `open` are used up. */
export const matchLegs = (open: OpenPositions, { cost, tolerance: usual }: TradeTerms): ReadonlyArray<DraftLeg> => {
  const tolerance = underMismatch(usual, open.mismatchUsd)
  const terms = { tolerance, cost }
  // What holds less than the least leg can make none, whatever is bought.
  const canMake = ({ leftUsd, position }: Imbalance) => leftUsd >= tolerance.tradeUsd || !isFine(position, tolerance)
  const sellers = open.sellers.filter(canMake).toSorted(byOpenValue)
  const buyers = open.buyers.toSorted(byOpenValue)
  const legs: Array<DraftLeg> = []
  let isBuyerStranded = false

  const trade = (sellerAt: number, buyerAt: number): DraftLeg | undefined => {
    const seller = sellers[sellerAt]!
    const buyer = buyers[buyerAt]!
    const usd = sizeLeg({ seller, buyer, excessUsd: seller.openUsd, gapUsd: buyer.openUsd }, terms)
    if (usd === 0n) return undefined
    const leg = draft(seller, buyer, sparingDust({ seller, buyers, at: buyerAt, usd }, tolerance))
    legs.push(leg)
    sink(sellers, sellerAt, seller.openUsd < tolerance.marginUsd || !canMake(seller))
    sink(buyers, buyerAt, buyer.openUsd < tolerance.marginUsd)
    return leg
  }

  const tradeEqual = (seller: Imbalance): boolean => {
    if (seller.openUsd < tolerance.settleUsd || !canMake(seller)) return false
    const buyerAt = indexOfEqual(buyers, seller.openUsd, tolerance)
    return buyerAt >= 0 && trade(indexOf(sellers, seller), buyerAt) !== undefined
  }

  const tradeEqualTo = (buyer: Imbalance): void => {
    if (buyer.openUsd < tolerance.settleUsd) return
    const sellerAt = indexOfEqual(sellers, buyer.openUsd, tolerance)
    if (sellerAt >= 0) trade(sellerAt, indexOf(buyers, buyer))
  }

  const tradeLargest = (): void => {
    const isSeller = sellers[0]!.openUsd > buyers[0]!.openUsd
    const others = isSeller ? buyers : sellers
    for (let at = 0; at < others.length && others[at]!.openUsd >= tolerance.pastUsd; at += 1) {
      const leg = isSeller ? trade(0, at) : trade(at, 0)
      if (leg === undefined) continue
      if (!tradeEqual(leg.seller)) tradeEqualTo(leg.buyer)
      return
    }
    if (isSeller) sellers.shift()
    else buyers.shift()
    isBuyerStranded ||= !isSeller
  }

  const isAnyLarge = () => sellers[0]!.openUsd >= tolerance.settleUsd || buyers[0]!.openUsd >= tolerance.settleUsd

  for (const seller of sellers.toReversed()) tradeEqual(seller)
  while (sellers.length > 0 && buyers.length > 0 && isAnyLarge()) tradeLargest()
  const isBuyerWaiting = isBuyerStranded || (buyers[0]?.openUsd ?? 0n) >= tolerance.settleUsd
  sellDust(legs, isBuyerWaiting ? tolerance.marginUsd : tolerance.settleUsd, tolerance)
  return legs
}
