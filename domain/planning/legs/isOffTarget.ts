/**
 * Whether a chain is far enough off target to trade at all.
 */
import { type Imbalance, imbalances } from "#domain/planning/legs/imbalances.ts"
import { type Shares, sharesOf } from "#domain/planning/Shares.ts"
import { sizeLeg } from "#domain/planning/legs/sizeLeg.ts"
import { isFine, type Tolerance, type TradeTerms, underMismatch } from "#domain/planning/Tolerance.ts"

/** The entry that has most to trade, of those that `counts` lets through. */
const largest = (side: ReadonlyArray<Imbalance>, counts: (open: Imbalance) => boolean): ReadonlyArray<Imbalance> => {
  let most: Imbalance | undefined
  for (const open of side) if (counts(open) && (most === undefined || open.openUsd > most.openUsd)) most = open
  return most === undefined ? [] : [most]
}

/**
 * True when there surely is a leg worth making, whatever the other assets are: two fine assets are off by the minimum
 * leg, with a margin. Found at a glance for most portfolios that have anything to trade.
 */
export const isFarOffTarget = ({ positions, totalUsd, weight }: Shares, tolerance: Tolerance): boolean => {
  const shareOf = sharesOf({ totalUsd, weight })
  const minUsd = tolerance.tradeUsd + tolerance.marginUsd
  let isSold = false
  let isBought = false
  for (const position of positions) {
    if (!position.canSell || !isFine(position, tolerance)) continue
    const excessUsd = position.valueUsd - shareOf(position.weight)
    isSold ||= excessUsd >= minUsd
    isBought ||= position.canBuy && -excessUsd >= minUsd
    if (isSold && isBought) return true
  }
  return false
}

/**
 * True when some leg would be worth making even with every deviation a margin smaller than it is.
 *
 * Measured against the value that the targets share. A finished plan leaves no leg worth making, and what
 * it expects of the account is exact to within the margin: on its own result this is false.
 *
 * A leg between fine assets grows with what either side has to trade, so the largest of each side stand for all of
 * them; a coarse asset is only ever exchanged for a fine one, so each is held against the largest fine one alone. A
 * fine seller that holds less than the minimum leg can make none.
 */
export const isOffTarget = (shares: Shares, { cost, tolerance }: TradeTerms): boolean => {
  const { marginUsd, tradeUsd } = tolerance
  const { buyers, mismatchUsd, sellers } = imbalances(shares, marginUsd * 2n, cost)
  const strict = underMismatch(tolerance, mismatchUsd + marginUsd)
  const terms = { tolerance: strict, cost }
  const isFineOpen = ({ position }: Imbalance) => isFine(position, strict)
  const isWorth = (
    { openUsd: excessUsd, position: seller }: Imbalance,
    { openUsd: gapUsd, position: buyer }: Imbalance
  ) =>
    sizeLeg(
      {
        seller,
        buyer,
        leftUsd: seller.valueUsd,
        excessUsd: excessUsd - marginUsd,
        gapUsd: gapUsd - marginUsd
      },
      terms
    ) > 0n
  const fineSeller = largest(sellers, (open) => isFineOpen(open) && open.position.valueUsd >= tradeUsd)
  const fineBuyer = largest(buyers, isFineOpen)
  return (
    fineSeller.some((seller) =>
      buyers.some((buyer) => (fineBuyer[0] === buyer || !isFineOpen(buyer)) && isWorth(seller, buyer))
    ) || fineBuyer.some((buyer) => sellers.some((seller) => !isFineOpen(seller) && isWorth(seller, buyer)))
  )
}
