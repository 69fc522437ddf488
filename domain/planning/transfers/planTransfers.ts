/**
 * Which chains send value to which.
 *
 * What a chain can spare goes to chains whose buyable targets lack it, and never more than they lack. Equal amounts are
 * matched first, then the largest with the largest, so each transfer brings a chain on target: at most one transfer
 * less than there are chains off target. (The true minimum is a partition problem, NP-hard; for the two or three chains
 * that are off it is the minimum.)
 */
import type { ChainId } from "#domain/values/Caip.ts"
import { movableUsd } from "#domain/planning/transfers/bridgeAssets.ts"
import { type ChainBalance, chainBalances } from "#domain/planning/transfers/chainBalances.ts"
import type { ChainView } from "#domain/planning/ChainView.ts"
import type { ChainPair, PlanInput, TransferTerms } from "#domain/planning/Plan.ts"
import { fromFeeBps, whole } from "#domain/planning/SwapCost.ts"

/** Value (US dollars, wad) that should leave one chain for another. */
export interface Move extends ChainPair {
  readonly usd: bigint
}

/**
 * A share of the portfolio below which a transfer is not worth its time, as a divisor: half a percent. The costs of a
 * transfer that differ from what was expected put a chain off by less than a quarter of them, so as long as
 * two sales and the transfer together cost less than two percent no transfer calls for another.
 */
const minShare = 200n

/**
 * Part of the minimum transfer that rounding may take, as a divisor. A plan starts to send that much above the minimum.
 */
const marginParts = 50n

/**
 * A plan that sends at all also sends what is just below the minimum: costs yet to be paid on the receiving chains
 * could otherwise lift it above, and it would be sent alone. In parts of the minimum transfer.
 */
const furtherParts = { part: 3n, whole: 4n }

/**
 * Rounds in which the costs of what moves are taken out of what the chains share; each is a fraction of the one before.
 */
const costRounds = 3

/** Minimum value worth a transfer: the configured one, the minimum trade, or the share above of everything. */
export const minTransferUsd = (totalUsd: bigint, { minUsd }: TransferTerms, thresholdUsd: bigint): bigint =>
  [minUsd, thresholdUsd].reduce((most, usd) => (usd > most ? usd : most), totalUsd / minShare)

interface Side {
  readonly chainId: ChainId
  /** What it can send or should be sent, US dollars (wad) as they leave. */
  readonly usd: bigint
}

interface Sides {
  readonly senders: ReadonlyArray<Side>
  readonly receivers: ReadonlyArray<Side>
}

/** Whether value can go from one chain to the other. */
type IsOpen = (from: ChainId, to: ChainId) => boolean

const openUnder =
  ({ refused = [] }: TransferTerms): IsOpen =>
  (from, to) =>
    !refused.some((pair) => pair.from === from && pair.to === to)

const lesser = (a: bigint, b: bigint): bigint => (a < b ? a : b)

/** `kept` basis points of what leaves arrive; a receiver is sent what brings it no more than it lacks. */
const sidesOf = (balances: ReadonlyArray<ChainBalance>, kept: bigint): Sides => ({
  senders: balances.flatMap(({ bridgeAsset, spareUsd, view }) =>
    bridgeAsset === undefined || spareUsd <= 0n
      ? []
      : [{ chainId: view.chainId, usd: lesser(spareUsd, movableUsd(view, bridgeAsset)) }]
  ),
  receivers: balances.flatMap(({ bridgeAsset, spareUsd, view }) =>
    bridgeAsset === undefined || spareUsd >= 0n ? [] : [{ chainId: view.chainId, usd: (-spareUsd * whole) / kept }]
  )
})

/** Largest first; equal amounts in the order of their chains, so that the order of the input decides nothing. */
const byAmount = (a: Side, b: Side): number => (a.usd === b.usd ? a.chainId - b.chainId : a.usd > b.usd ? -1 : 1)

/**
 * The pair to match next: one whose amounts are equal to within the margin, or else the largest sender that has a
 * receiver and the largest of its receivers.
 */
const nextPair = (
  { receivers, senders }: Sides,
  marginUsd: bigint,
  isOpen: IsOpen
): readonly [Side, Side] | undefined => {
  const pairs = senders.flatMap((sender) =>
    receivers.flatMap((receiver) => (isOpen(sender.chainId, receiver.chainId) ? [[sender, receiver] as const] : []))
  )
  const isEqual = ([{ usd }, receiver]: readonly [Side, Side]) =>
    receiver.usd - usd <= marginUsd && usd - receiver.usd <= marginUsd
  return pairs.find(isEqual) ?? pairs[0]
}

/** What decides which amounts meet; US dollars (wad). */
interface Matching {
  /** No move is smaller. */
  readonly minUsd: bigint
  /** Amounts that differ by no more are equal. */
  readonly marginUsd: bigint
  readonly isOpen: IsOpen
}

/** Pairs senders with receivers. */
const match = (sides: Sides, { isOpen, marginUsd, minUsd }: Matching): ReadonlyArray<Move> => {
  const moves: Array<Move> = []
  const isWorth = ({ usd }: Side) => usd >= minUsd
  const less = (of: ReadonlyArray<Side>, chainId: ChainId, usd: bigint): ReadonlyArray<Side> =>
    of
      .map((side) => (side.chainId === chainId ? { ...side, usd: side.usd - usd } : side))
      .filter(isWorth)
      .sort(byAmount)
  let senders: Sides["senders"] = sides.senders.filter(isWorth).toSorted(byAmount)
  let receivers: Sides["receivers"] = sides.receivers.filter(isWorth).toSorted(byAmount)
  for (;;) {
    const pair = nextPair({ receivers, senders }, marginUsd, isOpen)
    if (pair === undefined) return moves
    const [{ chainId: from }, { chainId: to }] = pair
    const usd = lesser(pair[0].usd, pair[1].usd)
    moves.push({ from, to, usd })
    senders = less(senders, from, usd)
    receivers = less(receivers, to, usd)
  }
}

/**
 * The moves between chains of which everything is known.
 *
 * Value moves on a complete picture only: for a call once every chain was read and every target that is held has
 * a price, since what moved for want of a reading would have to move back.
 */
export const planTransfers = (
  views: ReadonlyArray<ChainView>,
  terms: TransferTerms,
  { feeBps: swapFeeBps, preferences }: Pick<PlanInput, "feeBps" | "preferences">
): ReadonlyArray<Move> => {
  const valueUsd = views.reduce((sum, view) => sum + view.valueUsd, 0n)
  const weight = views.reduce((sum, view) => sum + view.weight, 0n)
  if (weight === 0n) return []
  const minUsd = minTransferUsd(valueUsd, terms, preferences.thresholdUsd)
  const marginUsd = minUsd / marginParts
  const { kept } = fromFeeBps(terms.feeBps)
  const { lost } = fromFeeBps(Math.min(9_999, terms.feeBps + swapFeeBps))
  const isOpen = openUnder(terms)
  const sidesAt = (totalUsd: bigint) => sidesOf(chainBalances(views, terms, { totalUsd, weight }), kept)
  // Measured against the value as it stands: what a finished plan leaves calls for nothing.
  if (match(sidesAt(valueUsd), { minUsd: minUsd + marginUsd, marginUsd, isOpen }).length === 0) return []
  let moves: ReadonlyArray<Move> = []
  for (let round = 0, totalUsd = valueUsd; round < costRounds; round += 1) {
    const furtherUsd = (minUsd * furtherParts.part) / furtherParts.whole
    moves = match(sidesAt(totalUsd), { minUsd: furtherUsd, marginUsd, isOpen })
    totalUsd = valueUsd - (moves.reduce((sum, { usd }) => sum + usd, 0n) * lost) / whole
  }
  return moves
}
