/**
 * Amounts for pairs that were chosen before: each seller sells what it has to, and each buyer gets what it lacks at the cost of
 * its own pairs. Pairs as `matchLegs` finds them close no circle, so whoever is left with one pair decides its amount.
 */
import type { DraftLeg } from "#domain/planning/DraftLeg.ts"
import type { Imbalance, OpenPositions } from "#domain/planning/imbalances.ts"
import { pairOf } from "#domain/planning/PlanPolicy.ts"
import { rawWithin } from "#domain/planning/Position.ts"
import type { Tolerance } from "#domain/planning/Tolerance.ts"
import { billion, type TradeCosts } from "#domain/planning/tradeCost.ts"

interface Side {
  readonly imbalance: Imbalance
  /** To be sold, or what is to arrive of what is bought; US dollars (wad). */
  openUsd: bigint
  readonly edges: Set<Edge>
}

interface Edge {
  readonly seller: Side
  readonly buyer: Side
  readonly kept: bigint
}

const sidesOf = (imbalances: ReadonlyArray<Imbalance>, openUsd: (imbalance: Imbalance) => bigint) =>
  new Map(
    imbalances.map((imbalance): [string, Side] => [
      imbalance.position.assetId,
      { imbalance, openUsd: openUsd(imbalance), edges: new Set() }
    ])
  )

/** Undefined when the needs are not those of the pairs any more, so that pairs have to be found anew. */
export const legsOnPairs = (
  { buyers, sellers }: OpenPositions,
  pairs: ReadonlySet<string>,
  tolerance: Tolerance,
  costs: TradeCosts
): ReadonlyArray<DraftLeg> | undefined => {
  const selling = sidesOf(sellers, ({ leftUsd, openUsd }) => (openUsd < leftUsd ? openUsd : leftUsd))
  const buying = sidesOf(
    buyers,
    ({ openUsd, position }) => (openUsd * (billion - costs.ofBuying(position.assetId))) / billion
  )
  for (const [sell, seller] of selling) {
    for (const [buy, buyer] of buying) {
      if (!pairs.has(pairOf(sell as never, buy as never))) continue
      const edge: Edge = { seller, buyer, kept: billion - costs.ofPair(sell as never, buy as never) }
      seller.edges.add(edge)
      buyer.edges.add(edge)
    }
  }
  const sides = [...buying.values(), ...selling.values()]
  if (sides.some(({ edges, openUsd }) => edges.size === 0 && openUsd >= tolerance.tradeUsd)) return undefined
  const legs: Array<DraftLeg> = []
  for (;;) {
    const leaf = sides.find(({ edges }) => edges.size === 1)
    if (leaf === undefined) break
    const [edge] = leaf.edges as Set<Edge>
    const { buyer, kept, seller } = edge!
    const wantedUsd = leaf === seller ? leaf.openUsd : (leaf.openUsd * billion) / kept
    // Nothing flows backwards: another pair has to take its place.
    if (wantedUsd <= -tolerance.marginUsd) return undefined
    const usd = wantedUsd < seller.imbalance.leftUsd ? wantedUsd : seller.imbalance.leftUsd
    seller.edges.delete(edge!)
    buyer.edges.delete(edge!)
    seller.openUsd -= usd
    buyer.openUsd -= (usd * kept) / billion
    if (usd < tolerance.settleUsd) continue
    const { leftUsd, position } = seller.imbalance
    const sellRaw = usd === leftUsd ? seller.imbalance.leftRaw : rawWithin(position, usd)
    seller.imbalance.leftRaw -= sellRaw
    seller.imbalance.leftUsd -= usd
    legs.push({ seller: seller.imbalance, buyer: buyer.imbalance, sellRaw, usd })
  }
  return sides.some(({ edges }) => edges.size > 0) ? undefined : legs
}
