/**
 * One readable chain as the planner sees it before it plans.
 */
import type { AssetId, ChainId } from "#domain/values/Caip.ts"
import type { ChainHoldings, Holding } from "#domain/planning/Plan.ts"
import type { TargetWeight } from "#domain/mandate/Allocation.ts"
import { fromHolding, type PlanPosition, unknownAsset } from "#domain/planning/PlanPosition.ts"

/** Held without a price that counts, or not known to be held. */
export interface Unvalued extends TargetWeight, Pick<Holding, "unbacked"> {
  readonly isUnread: boolean
}

export interface ChainView {
  readonly chainId: ChainId
  /** The assets whose value is known, those of value zero included; they share the chain by their weights. */
  readonly positions: ReadonlyArray<PlanPosition>
  /** Holdings of unknown value: taken to be on target, whatever they are worth, and so left out of the shares. */
  readonly unvalued: ReadonlyArray<Unvalued>
  /** Sums over `positions`: US dollars (wad) and basis points of the whole portfolio. */
  readonly valueUsd: bigint
  readonly weight: bigint
  /**
   * What the weights are worth in a portfolio whose chains exchange value, US dollars (wad). Where the chain holds
   * less, because some of its targets cannot be bought and so were sent nothing, the others are still filled to their
   * parts of it.
   */
  readonly dueUsd?: bigint
}

const hasNoPrice = (holding: Holding): boolean => holding.priceUsd === null || holding.priceUsd <= 0n

/**
 * Reads a chain against the part of the allocation that lies on it. `kept` is in the view even when it is neither held
 * nor wanted: the asset by which value comes and goes.
 */
export const readChain = (chain: ChainHoldings, allocation: ReadonlyArray<TargetWeight>, kept?: AssetId): ChainView => {
  const targets = new Map<AssetId, number>()
  for (const target of allocation) targets.set(target.assetId, target.weight)
  const positions: Array<PlanPosition> = []
  const unvalued: Array<Unvalued> = []
  let valueUsd = 0n
  let weight = 0n
  let unlisted = allocation.length
  for (const holding of chain.holdings) {
    const target = targets.get(holding.assetId) ?? 0
    if (target > 0) unlisted -= 1
    const isUnread = holding.isUnread === true
    const isHeld = isUnread || holding.balanceRaw + (holding.incomingRaw ?? 0n) > 0n
    if (target === 0 && !isHeld && holding.assetId !== kept) continue
    if (isUnread || (isHeld && hasNoPrice(holding))) {
      const { assetId, unbacked } = holding
      unvalued.push({ assetId, weight: target, isUnread, ...(unbacked === undefined ? {} : { unbacked }) })
      continue
    }
    const position = fromHolding(holding, target)
    positions.push(position)
    valueUsd += position.valueUsd
    weight += position.weight
  }
  if (unlisted > 0) {
    const listed = new Set(chain.holdings.map(({ assetId }) => assetId))
    for (const { assetId, weight: target } of allocation) {
      if (listed.has(assetId)) continue
      const position = unknownAsset(assetId, target)
      positions.push(position)
      weight += position.weight
    }
  }
  return { chainId: chain.chainId, positions, unvalued, valueUsd, weight }
}
