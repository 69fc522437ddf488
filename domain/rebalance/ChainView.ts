/**
 * What the planner knows of one readable chain before it plans.
 */
import type { AssetId, ChainId } from "#domain/Caip.ts"
import type { ChainState, Holding } from "#domain/rebalance/Plan.ts"
import type { TargetWeight } from "#domain/strategy/Strategy.ts"
import { fromHolding, type Position, unknownAsset } from "#domain/rebalance/Position.ts"

export interface ChainView {
  readonly chainId: ChainId
  /** The assets whose value is known, those of value zero included; they share the chain by their weights. */
  readonly positions: ReadonlyArray<Position>
  /** Held without a price: taken to be on target, whatever they are worth, and so left out of the shares. */
  readonly unvalued: ReadonlyArray<TargetWeight>
  /** Sums over `positions`: US dollars (wad) and basis points of the whole portfolio. */
  readonly valueUsd: bigint
  readonly weight: bigint
}

const hasNoPrice = (holding: Holding): boolean => holding.priceUsd === null || holding.priceUsd <= 0n

/** Reads a chain against the part of the allocation that lies on it. */
export const readChain = (chain: ChainState, allocation: ReadonlyArray<TargetWeight>): ChainView => {
  const missing = new Map<AssetId, number>()
  for (const target of allocation) missing.set(target.assetId, target.weight)
  const positions: Array<Position> = []
  const unvalued: Array<TargetWeight> = []
  let valueUsd = 0n
  let weight = 0n
  for (const holding of chain.holdings) {
    const target = missing.get(holding.assetId) ?? 0
    missing.delete(holding.assetId)
    if (target === 0 && holding.balanceRaw === 0n) continue
    if (holding.balanceRaw > 0n && hasNoPrice(holding)) {
      unvalued.push({ assetId: holding.assetId, weight: target })
      continue
    }
    const position = fromHolding(holding, target)
    positions.push(position)
    valueUsd += position.valueUsd
    weight += position.weight
  }
  for (const [assetId, target] of missing) {
    const position = unknownAsset(assetId, target)
    positions.push(position)
    weight += position.weight
  }
  return { chainId: chain.chainId, positions, unvalued, valueUsd, weight }
}
