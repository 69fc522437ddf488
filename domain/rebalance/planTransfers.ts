/**
 * Which chains send value to which.
 *
 * Seen from above, a chain is an asset of the portfolio: its value is what everything on it is worth, its weight the sum
 * of the weights on it, and a transfer trades one for the other at a cost. So the rules of `planChain` decide here too:
 * least value, at most one transfer less than there are chains to settle (the true minimum is a partition problem,
 * NP-hard; for the two or three chains that are off it is the minimum), costs out of the targets, and rest on its own
 * result.
 */
import type { AssetId, ChainId } from "#domain/Caip.ts"
import type { ChainView } from "#domain/rebalance/ChainView.ts"
import * as Decimal from "#domain/Decimal.ts"
import type { PlanInput, TransferTerms } from "#domain/rebalance/Plan.ts"
import { planChain } from "#domain/rebalance/planChain.ts"
import { fromHolding, type Position } from "#domain/rebalance/Position.ts"
import { fromFeeBps } from "#domain/rebalance/SwapCost.ts"

/** Value (US dollars, wad) that should leave one chain for another. */
export interface Move {
  readonly from: ChainId
  readonly to: ChainId
  readonly usd: bigint
}

/**
 * A share of the portfolio below which a transfer is not worth its time, as a divisor: half a percent. The costs of a
 * transfer that differ from what was expected put a chain off by less than a quarter of them, so as long as
 * two sales and the transfer together cost less than two percent no transfer calls for another.
 */
const leastShare = 200n

/** Least value worth a transfer: the configured one, the least trade, or the share above of everything. */
export const leastTransferUsd = (totalUsd: bigint, { leastUsd }: TransferTerms, thresholdUsd: bigint): bigint =>
  [leastUsd, thresholdUsd].reduce((most, usd) => (usd > most ? usd : most), totalUsd / leastShare)

/** The asset by which a chain sends and receives; undefined when it has none whose price can be relied on. */
export const carrierOf = (view: ChainView, terms: TransferTerms): Position | undefined => {
  const carrier = terms.assets.get(view.chainId)
  return view.positions.find(({ assetId, canSell }) => assetId === carrier && canSell)
}

/** Value that could leave the chain now: of what may be sold, or only the carrier where it may not be bought. */
const movableUsd = (view: ChainView, carrier: Position): bigint =>
  view.positions
    .filter((position) => position === carrier || (position.canSell && carrier.obstacle === null))
    .reduce(
      (sum, { balanceRaw, incomingRaw, priceUsd, scale }) => sum + ((balanceRaw - incomingRaw) * priceUsd) / scale,
      0n
    )

const asPosition = (view: ChainView, terms: TransferTerms): Position =>
  fromHolding(
    {
      assetId: String(view.chainId) as AssetId,
      decimals: 18,
      balanceRaw: view.valueUsd,
      priceUsd: Decimal.one,
      priceIsStale: false,
      isBlocked: carrierOf(view, terms) === undefined,
      isAuthorized: true
    },
    Number(view.weight)
  )

/**
 * The moves between chains of which everything is known; the fee is what selling for the carrier costs.
 *
 * Value moves on a complete picture only: the caller asks when every chain was read and every target that is held has
 * a price, since what moved for want of a reading would have to move back.
 */
export const planTransfers = (
  views: ReadonlyArray<ChainView>,
  terms: TransferTerms,
  { feeBps: swapFeeBps, preferences }: Pick<PlanInput, "feeBps" | "preferences">
): ReadonlyArray<Move> => {
  const totalUsd = views.reduce((sum, { valueUsd }) => sum + valueUsd, 0n)
  const least = leastTransferUsd(totalUsd, terms, preferences.thresholdUsd)
  const byName = new Map(views.map((view) => [String(view.chainId), view]))
  const { legs } = planChain(
    {
      chainId: 0 as ChainId,
      positions: views.map((view) => asPosition(view, terms)),
      unvalued: [],
      valueUsd: totalUsd,
      weight: views.reduce((sum, { weight }) => sum + weight, 0n)
    },
    least,
    fromFeeBps(Math.min(9_999, terms.feeBps + swapFeeBps))
  )
  const left = new Map<ChainView, bigint>()
  return legs.flatMap(({ buy, sell, valueUsd }) => {
    const from = byName.get(sell)!
    const available = left.get(from) ?? movableUsd(from, carrierOf(from, terms)!)
    const usd = valueUsd < available ? valueUsd : available
    if (usd < least) return []
    left.set(from, available - usd)
    return [{ from: from.chainId, to: byName.get(buy)!.chainId, usd }]
  })
}
