/**
 * What each chain has to spare and what it can use, once the portfolio's value is shared by the weights.
 *
 * A chain's value alone is not enough: what cannot be sold cannot leave, and what cannot be bought needs nothing. So
 * only assets above their targets that may be sold count as excess, and only targets that may be bought count as lack.
 */
import { attainable } from "#domain/planning/legs/attainable.ts"
import { bridgeAssetOf } from "#domain/planning/transfers/bridgeAssets.ts"
import type { ChainView } from "#domain/planning/ChainView.ts"
import type { TransferTerms } from "#domain/planning/Plan.ts"
import { type PlanPosition, rawWithin, valueOf } from "#domain/planning/PlanPosition.ts"
import type { Shares } from "#domain/planning/Shares.ts"
import * as SwapCost from "#domain/planning/SwapCost.ts"

/** One chain against its share of the portfolio. US dollars (wad). */
export interface ChainBalance {
  readonly view: ChainView
  /** Undefined when nothing can come or go. */
  readonly bridgeAsset: PlanPosition | undefined
  /**
   * Value by which what may be sold exceeds what its own buyable targets lack; below zero: what these lack beyond it.
   */
  readonly spareUsd: bigint
}

/** What is missing to `targetUsd`, in whole units of the asset: a part of a unit cannot be bought. */
const lackUsd = (position: PlanPosition, targetUsd: bigint): bigint =>
  valueOf(position, rawWithin(position, targetUsd - position.valueUsd))

/** A bridge asset that is a target is filled by what arrives, whether or not the agent may buy it. */
const filled = (bridgeAsset: PlanPosition): PlanPosition => ({ ...bridgeAsset, canBuy: bridgeAsset.weight > 0n })

const spareOf = ({ positions, totalUsd, weight }: Shares): bigint =>
  positions.reduce((sum, position) => {
    const targetUsd = (position.weight * totalUsd) / weight
    if (position.valueUsd >= targetUsd) return position.canSell ? sum + position.valueUsd - targetUsd : sum
    return position.canBuy ? sum - lackUsd(position, targetUsd) : sum
  }, 0n)

/**
 * The chains when they share the total. What a chain without bridge asset holds too much of is missing from the others,
 * like an asset that cannot be sold.
 */
export const chainBalances = (
  views: ReadonlyArray<ChainView>,
  terms: TransferTerms,
  { totalUsd, weight }: Pick<Shares, "totalUsd" | "weight">
): ReadonlyArray<ChainBalance> => {
  const chains = views.map((view) => {
    const bridgeAsset = bridgeAssetOf(view, terms)
    return {
      view,
      bridgeAsset,
      positions: view.positions.map((position) => (position === bridgeAsset ? filled(position) : position))
    }
  })
  const connected = chains.flatMap(({ bridgeAsset, positions }) => (bridgeAsset === undefined ? [] : positions))
  const sharedUsd = attainable({ positions: connected, weight, totalUsd }, SwapCost.fromFeeBps(0))
  return chains.map(({ bridgeAsset, positions, view }) => ({
    view,
    bridgeAsset,
    spareUsd: spareOf({ positions, weight, totalUsd: sharedUsd })
  }))
}
