/**
 * Who has to sell and who has to buy, and the pairs by which they are to do it.
 *
 * Pairs close no circle, so they form trees, and whoever is left with one pair decides its amount.
 */
import type { PlanPosition } from "#domain/planning/PlanPosition.ts"
import { billion } from "#domain/planning/bands/tradeCost.ts"

export interface Side {
  readonly position: PlanPosition
  readonly isSeller: boolean
  /** Value to be sold, or value of what is to be bought; US dollars (wad). */
  readonly wantedUsd: bigint
}

export interface Pair {
  readonly seller: Side
  readonly buyer: Side
  /** What arrives of what is sold, in billionths. */
  readonly kept: bigint
}

export interface PairNetwork {
  readonly sides: ReadonlyArray<Side>
  /** Pairs in the order in which they came. */
  readonly pairs: ReadonlyArray<Pair>
  /** The pairs of each side, in the same order. */
  readonly bySide: ReadonlyMap<Side, ReadonlyArray<Pair>>
}

/** US dollars (wad). */
export interface PairAmounts {
  readonly soldBy: (pair: Pair) => bigint
  /** What its pairs leave of what a side wants. */
  readonly openOf: (side: Side) => bigint
}

export interface Tree {
  readonly sides: ReadonlyArray<Side>
  /** Sold above bought, or below when negative; US dollars (wad). */
  readonly surplusUsd: bigint
}

export const networkOf = (sides: ReadonlyArray<Side>, pairs: ReadonlyArray<Pair>): PairNetwork => {
  const bySide = new Map(sides.map((side): [Side, Array<Pair>] => [side, []]))
  for (const pair of pairs) {
    bySide.get(pair.seller)!.push(pair)
    bySide.get(pair.buyer)!.push(pair)
  }
  return { sides, pairs, bySide }
}

const otherOf = ({ buyer, seller }: Pair, side: Side): Side => (side === seller ? buyer : seller)

/** Finds all amounts; what a tree has too much or too little of is left open at one of its sides. */
export const solve = ({ bySide, sides }: PairNetwork): PairAmounts => {
  const open = new Map(sides.map((side) => [side, side.wantedUsd]))
  const undecided = new Map(sides.map((side) => [side, bySide.get(side)!.length]))
  const sold = new Map<Pair, bigint>()
  const leaves = sides.filter((side) => undecided.get(side) === 1)
  for (const leaf of leaves) {
    const pair = bySide.get(leaf)!.find((one) => !sold.has(one))
    if (pair === undefined) continue
    const { buyer, kept, seller } = pair
    const usd = leaf === seller ? open.get(leaf)! : (open.get(leaf)! * billion) / kept
    sold.set(pair, usd)
    open.set(seller, open.get(seller)! - usd)
    open.set(buyer, open.get(buyer)! - (usd * kept) / billion)
    const other = otherOf(pair, leaf)
    const left = undecided.get(other)! - 1
    undecided.set(other, left)
    if (left === 1) leaves.push(other)
  }
  // The pairs of a circle decide nothing, and so sell nothing.
  return { soldBy: (pair) => sold.get(pair) ?? 0n, openOf: (side) => open.get(side)! }
}

export const treesOf = ({ bySide, sides }: PairNetwork, { openOf }: PairAmounts): ReadonlyArray<Tree> => {
  const seen = new Set<Side>()
  return sides.flatMap((first) => {
    if (seen.has(first)) return []
    const found = [first]
    seen.add(first)
    for (const side of found) {
      for (const pair of bySide.get(side)!) {
        const other = otherOf(pair, side)
        if (seen.has(other)) continue
        seen.add(other)
        found.push(other)
      }
    }
    const surplusUsd = found.reduce((sum, side) => sum + (side.isSeller ? openOf(side) : -openOf(side)), 0n)
    return [{ sides: found, surplusUsd }]
  })
}
