/**
 * Amounts for pairs that were chosen before: each seller sells what it has to, and each buyer gets what it lacks at the
 * cost of its own pairs.
 *
 * Pairs close no circle, so they form trees, and an asset that is left with one pair decides its amount. What quotes
 * change of the amounts is moved within a tree. What a tree has too much of, or an asset that has no pair yet, goes to
 * one that has too little over a new pair, and a pair that would flow backwards or carry less than a trade is left out.
 */
import type { AssetId } from "#domain/Caip.ts"
import type { DraftLeg } from "#domain/planning/legs/DraftLeg.ts"
import type { Imbalance, OpenPositions } from "#domain/planning/legs/imbalances.ts"
import { pairOf } from "#domain/planning/PlanPolicy.ts"
import { rawWithin } from "#domain/planning/Position.ts"
import type { Tolerance } from "#domain/planning/Tolerance.ts"
import type { PolicyTerms } from "#domain/planning/bands/PolicyTerms.ts"
import { billion } from "#domain/planning/bands/tradeCost.ts"

interface Side {
  readonly imbalance: Imbalance
  readonly isSeller: boolean
  /** To be sold, or what is to arrive of what is bought; US dollars (wad). */
  readonly wantedUsd: bigint
  /** What its pairs leave of that. */
  openUsd: bigint
  readonly pairs: Set<Pair>
}

interface Pair {
  readonly seller: Side
  readonly buyer: Side
  readonly kept: bigint
  usd: bigint
}

/** Changes of pairs after which all are found anew instead. */
const maxChanges = 8

const assetOf = ({ imbalance }: Side): AssetId => imbalance.position.assetId

const sideOf = (imbalance: Imbalance, isSeller: boolean, wantedUsd: bigint): Side => ({
  imbalance,
  isSeller,
  wantedUsd,
  openUsd: wantedUsd,
  pairs: new Set()
})

/** Finds all amounts; what a tree has too much or too little of is left open at one of its sides. */
const solve = (sides: ReadonlyArray<Side>): void => {
  const undecided = new Map(sides.map((side) => [side, new Set(side.pairs)]))
  for (const side of sides) side.openUsd = side.wantedUsd
  const leaves = sides.filter(({ pairs }) => pairs.size === 1)
  for (const leaf of leaves) {
    const [pair] = undecided.get(leaf)!
    if (pair === undefined) continue
    const { buyer, kept, seller } = pair
    pair.usd = leaf === seller ? leaf.openUsd : (leaf.openUsd * billion) / kept
    seller.openUsd -= pair.usd
    buyer.openUsd -= (pair.usd * kept) / billion
    const other = leaf === seller ? buyer : seller
    undecided.get(leaf)!.delete(pair)
    undecided.get(other)!.delete(pair)
    if (undecided.get(other)!.size === 1) leaves.push(other)
  }
}

interface Tree {
  readonly sides: ReadonlyArray<Side>
  /** Sold above bought, or below when negative. */
  readonly surplusUsd: bigint
}

const treesOf = (sides: ReadonlyArray<Side>): ReadonlyArray<Tree> => {
  const seen = new Set<Side>()
  return sides.flatMap((first) => {
    if (seen.has(first)) return []
    const found = [first]
    seen.add(first)
    for (const side of found) {
      for (const { buyer, seller } of side.pairs) {
        const other = side === seller ? buyer : seller
        if (seen.has(other)) continue
        seen.add(other)
        found.push(other)
      }
    }
    const surplusUsd = found.reduce((sum, { isSeller, openUsd }) => sum + (isSeller ? openUsd : -openUsd), 0n)
    return [{ sides: found, surplusUsd }]
  })
}

const most = (sides: ReadonlyArray<Side>): Side =>
  sides.reduce((largest, side) => (side.wantedUsd > largest.wantedUsd ? side : largest))

const bySurplus = (a: Tree, b: Tree): number =>
  a.surplusUsd === b.surplusUsd ? 0 : a.surplusUsd > b.surplusUsd ? -1 : 1

/** Leaves out what is no trade; true where that or a new pair changed the trees. */
const change = (sides: ReadonlyArray<Side>, { settleUsd }: Tolerance, link: (seller: Side, buyer: Side) => void) => {
  const weak = sides.flatMap(({ isSeller, pairs }) => (isSeller ? [...pairs].filter(({ usd }) => usd < settleUsd) : []))
  for (const pair of weak) for (const side of [pair.seller, pair.buyer]) side.pairs.delete(pair)
  if (weak.length > 0) solve(sides)
  const trees = treesOf(sides).toSorted(bySurplus)
  const above = trees.filter(({ surplusUsd }) => surplusUsd >= settleUsd)
  const below = trees.filter(({ surplusUsd }) => -surplusUsd >= settleUsd).toReversed()
  const joined = Math.min(above.length, below.length)
  for (let at = 0; at < joined; at += 1) {
    link(
      most(above[at]!.sides.filter(({ isSeller }) => isSeller)),
      most(below[at]!.sides.filter(({ isSeller }) => !isSeller))
    )
  }
  if (joined > 0) solve(sides)
  return joined > 0
}

/** Undefined when pairs have to be found anew. */
export const legsOnPairs = (
  { buyers, sellers }: OpenPositions,
  known: ReadonlySet<string>,
  { costs, tolerance }: PolicyTerms
): ReadonlyArray<DraftLeg> | undefined => {
  const selling = sellers.map((one) => sideOf(one, true, one.openUsd < one.leftUsd ? one.openUsd : one.leftUsd))
  const buying = buyers.map((one) =>
    sideOf(one, false, (one.openUsd * (billion - costs.ofBuying(one.position.assetId))) / billion)
  )
  const sides = [...buying, ...selling]
  const link = (seller: Side, buyer: Side): void => {
    const pair: Pair = { seller, buyer, kept: billion - costs.ofPair(assetOf(seller), assetOf(buyer)), usd: 0n }
    seller.pairs.add(pair)
    buyer.pairs.add(pair)
  }
  for (const seller of selling) {
    for (const buyer of buying) if (known.has(pairOf(assetOf(seller), assetOf(buyer)))) link(seller, buyer)
  }
  solve(sides)
  let changes = 0
  while (change(sides, tolerance, link)) {
    changes += 1
    if (changes > maxChanges) return undefined
  }
  return selling.flatMap(({ imbalance: seller, pairs }) =>
    [...pairs].map(({ buyer: { imbalance: buyer }, usd: wantedUsd }): DraftLeg => {
      const usd = wantedUsd < seller.leftUsd ? wantedUsd : seller.leftUsd
      const sellRaw = usd === seller.leftUsd ? seller.leftRaw : rawWithin(seller.position, usd)
      seller.leftRaw -= sellRaw
      seller.leftUsd -= usd
      return { seller, buyer, sellRaw, usd }
    })
  )
}
