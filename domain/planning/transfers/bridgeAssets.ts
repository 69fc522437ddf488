/** The asset by which a chain sends and receives value, and how much of the chain could leave by it. */
import type { ChainView } from "#domain/planning/ChainView.ts"
import type { TransferTerms } from "#domain/planning/Plan.ts"
import { type PlanPosition, valueOf } from "#domain/planning/PlanPosition.ts"

/** The bridge asset of a chain; undefined when it has none whose price can be relied on. */
export const bridgeAssetOf = (view: ChainView, terms: TransferTerms): PlanPosition | undefined => {
  const bridgeAsset = terms.assets.get(view.chainId)
  return view.positions.find(({ assetId, canSell }) => assetId === bridgeAsset && canSell)
}

/** Value that could leave the chain now: of what may be sold, or only the bridge asset where it may not be bought. */
export const movableUsd = (view: ChainView, bridgeAsset: PlanPosition): bigint =>
  view.positions
    .filter((position) => position === bridgeAsset || (position.canSell && bridgeAsset.obstacle === null))
    .reduce((sum, position) => sum + valueOf(position, position.balanceRaw - position.incomingRaw), 0n)
