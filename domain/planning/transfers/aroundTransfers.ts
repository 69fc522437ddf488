/**
 * A chain as its own plan has to see it when value comes or goes: as if what is to come were on its way already, and as
 * if what is to leave had left.
 */
import type { ChainView } from "#domain/planning/ChainView.ts"
import { type PlanPosition, withBalance, withWeight } from "#domain/planning/PlanPosition.ts"

const withPositions = (view: ChainView, positions: ReadonlyArray<PlanPosition>): ChainView => ({
  ...view,
  positions,
  valueUsd: positions.reduce((sum, { valueUsd }) => sum + valueUsd, 0n),
  weight: positions.reduce((sum, { weight }) => sum + weight, 0n)
})

/**
 * The chain with `raw` units more of the bridge asset to come: what is expected is neither bought nor sold meanwhile.
 */
export const expecting = (view: ChainView, bridgeAsset: PlanPosition, raw: bigint): ChainView => {
  const withIncoming = {
    ...withBalance(bridgeAsset, bridgeAsset.balanceRaw + raw),
    incomingRaw: bridgeAsset.incomingRaw + raw
  }
  return withPositions(
    view,
    view.positions.map((position) => (position === bridgeAsset ? withIncoming : position))
  )
}

/**
 * A chain with targets: they share what stays. Where the bridge asset is then held below zero, the legs make up for it.
 */
const sendingShare = (view: ChainView, bridgeAsset: PlanPosition, left: PlanPosition): ChainView =>
  withPositions(
    view,
    view.positions.map((position) =>
      position === bridgeAsset ? { ...left, canBuy: left.obstacle === null } : position
    )
  )

/**
 * A chain without targets: only what is missing of the bridge asset is sold for it, from each asset in proportion. So
 * each is its own weight; what cannot be sold is left out.
 */
const sendingAll = (view: ChainView, bridgeAsset: PlanPosition, left: PlanPosition): ChainView =>
  withPositions(
    { ...view, dueUsd: 0n },
    view.positions.flatMap((position) => {
      if (position !== bridgeAsset) return position.canSell ? [withWeight(position, position.valueUsd)] : []
      const kept = withWeight(left, left.valueUsd > 0n ? left.valueUsd : 0n)
      return [{ ...kept, canBuy: kept.obstacle === null }]
    })
  )

/** The chain when `raw` units of the bridge asset are to leave, some of which may have to be bought first. */
export const sending = (view: ChainView, bridgeAsset: PlanPosition, raw: bigint): ChainView => {
  const left = withBalance(bridgeAsset, bridgeAsset.balanceRaw - raw)
  return view.weight === 0n ? sendingAll(view, bridgeAsset, left) : sendingShare(view, bridgeAsset, left)
}
