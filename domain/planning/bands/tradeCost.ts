/**
 * What a swap of a pair costs: as it was quoted, or else the fee that every swap is taken to cost. Billionths of what
 * is sold.
 */
import type { AssetId } from "#domain/values/Caip.ts"
import { pairOf, type PlanPolicy } from "#domain/planning/PlanPolicy.ts"
import type { Sale } from "#domain/planning/legs/DraftLeg.ts"
import { type SwapCost, whole } from "#domain/planning/SwapCost.ts"

export const billion = 1_000_000_000n

export interface TradeCosts {
  readonly ofPair: (sell: AssetId, buy: AssetId) => bigint
  /** Cost over all swaps that were quoted to buy the asset. */
  readonly ofBuying: (assetId: AssetId) => bigint
  /** Set aside for slippage, beside the quote. */
  readonly reserve: bigint
  /** What bands are reckoned with: buying the asset with the reserve, and nothing where that would be a gain. */
  readonly ofBand: (assetId: AssetId) => bigint
}

export const tradeCosts = ({ lost }: SwapCost, { buyingCosts, pairCosts, reserveBps }: PlanPolicy): TradeCosts => {
  const usual = (lost * billion) / whole
  const quoted = (cost: number | undefined): bigint => (cost === undefined ? usual : BigInt(cost))
  const reserve = (BigInt(reserveBps) * billion) / 10_000n
  return {
    ofBand: (assetId) => {
      const cost = quoted(buyingCosts?.get(assetId)) + reserve
      return cost > 0n ? cost : 0n
    },
    ofPair: (sell, buy) => quoted(pairCosts?.get(pairOf(sell, buy)) ?? buyingCosts?.get(buy)),
    ofBuying: (assetId) => quoted(buyingCosts?.get(assetId)),
    reserve
  }
}

/** Raw units that a sale buys at the prices of the plan, after the cost of the pair, cut to whole units. */
export const boughtAt = ({ buyer, seller, sellRaw }: Sale, costNano: bigint): bigint =>
  (sellRaw * seller.priceUsd * (billion - costNano) * buyer.scale) / (seller.scale * billion * buyer.priceUsd)
