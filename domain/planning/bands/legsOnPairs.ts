/**
 * Amounts for pairs that were chosen before: each seller sells what it has to, and each buyer gets what it lacks at the
 * cost of its own pairs.
 *
 * What quotes change of the amounts is moved within a tree of pairs. What a tree has too much of, or an asset that has
 * no pair yet, goes to one that has too little over a new pair, and a pair that would flow backwards or include less
 * than a trade is left out.
 */
import type { DraftLeg } from "#domain/planning/legs/DraftLeg.ts"
import type { OpenPositions } from "#domain/planning/legs/imbalances.ts"
import {
  networkOf,
  type Pair,
  type PairAmounts,
  type PairNetwork,
  type Side,
  solve,
  type Tree,
  treesOf
} from "#domain/planning/bands/PairNetwork.ts"
import { pairOf } from "#domain/planning/PlanPolicy.ts"
import { rawWithin } from "#domain/planning/PlanPosition.ts"
import type { Tolerance } from "#domain/planning/Tolerance.ts"
import type { PolicyTerms } from "#domain/planning/bands/PolicyTerms.ts"
import { billion, type TradeCosts } from "#domain/planning/bands/tradeCost.ts"

/** Changes of pairs after which all are found anew instead. */
const maxChanges = 8

const most = (sides: ReadonlyArray<Side>): Side =>
  sides.reduce((largest, side) => (side.wantedUsd > largest.wantedUsd ? side : largest))

const bySurplus = (a: Tree, b: Tree): number =>
  a.surplusUsd === b.surplusUsd ? 0 : a.surplusUsd > b.surplusUsd ? -1 : 1

/** The trees that have too much to sell with those that have too little, each by its largest sides. */
const unlinked = (trees: ReadonlyArray<Tree>, { correctUsd }: Tolerance): ReadonlyArray<readonly [Side, Side]> => {
  const sorted = trees.toSorted(bySurplus)
  const above = sorted.filter(({ surplusUsd }) => surplusUsd >= correctUsd)
  const below = sorted.filter(({ surplusUsd }) => -surplusUsd >= correctUsd).toReversed()
  return above
    .slice(0, below.length)
    .map(({ sides }, at) => [
      most(sides.filter(({ isSeller }) => isSeller)),
      most(below[at]!.sides.filter(({ isSeller }) => !isSeller))
    ])
}

/** The sides, with the pairs between them that are known. */
const knownNetwork = (
  { buyers, sellers }: OpenPositions,
  known: ReadonlySet<string>,
  costs: TradeCosts
): PairNetwork => {
  const selling = sellers.map(({ openUsd, position }): Side => ({
    position,
    isSeller: true,
    wantedUsd: openUsd < position.valueUsd ? openUsd : position.valueUsd
  }))
  const buying = buyers.map(({ openUsd, position }): Side => ({
    position,
    isSeller: false,
    wantedUsd: (openUsd * (billion - costs.ofBuying(position.assetId))) / billion
  }))
  const pairs = selling.flatMap((seller) =>
    buying
      .filter((buyer) => known.has(pairOf(seller.position.assetId, buyer.position.assetId)))
      .map((buyer) => linked(seller, buyer, costs))
  )
  return networkOf([...buying, ...selling], pairs)
}

const linked = (seller: Side, buyer: Side, costs: TradeCosts): Pair => ({
  seller,
  buyer,
  kept: billion - costs.ofPair(seller.position.assetId, buyer.position.assetId)
})

/** What the seller sells over its pairs: no more than it holds. */
const salesOf = (
  { position: seller }: Side,
  pairs: ReadonlyArray<Pair>,
  { soldBy }: PairAmounts
): ReadonlyArray<DraftLeg> => {
  let { balanceRaw: leftRaw, valueUsd: leftUsd } = seller
  return pairs.map((pair) => {
    const wantedUsd = soldBy(pair)
    const usd = wantedUsd < leftUsd ? wantedUsd : leftUsd
    const sellRaw = usd === leftUsd ? leftRaw : rawWithin(seller, usd)
    leftRaw -= sellRaw
    leftUsd -= usd
    return { seller, buyer: pair.buyer.position, sellRaw, usd }
  })
}

const legsOf = ({ bySide, sides }: PairNetwork, amounts: PairAmounts): ReadonlyArray<DraftLeg> =>
  sides.flatMap((side) => (side.isSeller ? salesOf(side, bySide.get(side)!, amounts) : []))

/** Undefined when pairs have to be found anew. */
export const legsOnPairs = (
  open: OpenPositions,
  known: ReadonlySet<string>,
  { costs, tolerance }: PolicyTerms
): ReadonlyArray<DraftLeg> | undefined => {
  let network = knownNetwork(open, known, costs)
  let amounts = solve(network)
  for (let changes = 0; changes <= maxChanges; changes += 1) {
    const { soldBy } = amounts
    const strong = network.pairs.filter((pair) => soldBy(pair) >= tolerance.correctUsd)
    if (strong.length < network.pairs.length) {
      network = networkOf(network.sides, strong)
      amounts = solve(network)
    }
    const links = unlinked(treesOf(network, amounts), tolerance)
    if (links.length === 0) return legsOf(network, amounts)
    const added = links.map(([seller, buyer]) => linked(seller, buyer, costs))
    network = networkOf(network.sides, [...strong, ...added])
    amounts = solve(network)
  }
  return undefined
}
