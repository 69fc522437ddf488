/**
 * How far whole chains are from their share of the portfolio.
 *
 * Value does not move between chains yet, so this only reports. Chains that could not be read are left out on both sides:
 * their value is unknown, and what the others hold is shared among the others.
 */
import type { ChainId } from "#domain/Caip.ts"
import * as Decimal from "#domain/Decimal.ts"
import { type Skip, SkipCode } from "#domain/rebalance/Skip.ts"
import { dustUsd } from "#domain/rebalance/Tolerance.ts"

/** A chain whose value is known. */
export interface ChainValue {
  readonly chainId: ChainId
  readonly valueUsd: bigint
  /** Sum of its weights, basis points of the whole portfolio. */
  readonly weight: bigint
}

const reasonFor = (overUsd: bigint): string =>
  overUsd > 0n
    ? `The chain holds ${Decimal.format(overUsd, 2)} USD more than its share of the portfolio; the surplus stays until value is moved to another chain.`
    : `The chain holds ${Decimal.format(-overUsd, 2)} USD less than its share of the portfolio; the gap stays until value is moved from another chain.`

/** One skip for each chain that is off its share by the threshold or more, by chain. */
export const crossChain = (chains: ReadonlyArray<ChainValue>, thresholdUsd: bigint): ReadonlyMap<ChainId, Skip> => {
  let totalUsd = 0n
  let totalWeight = 0n
  for (const chain of chains) {
    totalUsd += chain.valueUsd
    totalWeight += chain.weight
  }
  const leastUsd = thresholdUsd > dustUsd ? thresholdUsd : dustUsd
  const skips = new Map<ChainId, Skip>()
  for (const { chainId, valueUsd, weight } of chains) {
    const overUsd = totalWeight === 0n ? valueUsd : valueUsd - (totalUsd * weight) / totalWeight
    if (overUsd < leastUsd && overUsd > -leastUsd) continue
    skips.set(chainId, {
      chainId,
      assetId: null,
      code: SkipCode.crossChainPending,
      valueUsd: overUsd,
      reason: reasonFor(overUsd)
    })
  }
  return skips
}
