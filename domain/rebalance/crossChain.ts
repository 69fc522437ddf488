/**
 * How far whole chains are from their share of the portfolio.
 *
 * This only reports: what transfers leave undone, or cannot do. Chains that could not be read are left out on both sides:
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
    ? `The chain holds ${Decimal.format(overUsd, 2)} USD more than its share of the portfolio; the surplus stays until it can be moved to another chain.`
    : `The chain holds ${Decimal.format(-overUsd, 2)} USD less than its share of the portfolio; the gap stays until value can be moved from another chain.`

const tooLittleFor = (overUsd: bigint, leastTransferUsd: bigint): string =>
  `The chain is ${Decimal.format(overUsd < 0n ? -overUsd : overUsd, 2)} USD off its share of the portfolio, less than the least transfer of ${Decimal.format(leastTransferUsd, 2)} USD.`

/**
 * One skip for each chain that is off its share by the threshold or more, by chain. `leastTransferUsd` is the least that
 * is worth a transfer; undefined when nothing can move between chains.
 */
export const crossChain = (
  chains: ReadonlyArray<ChainValue>,
  thresholdUsd: bigint,
  leastTransferUsd?: bigint
): ReadonlyMap<ChainId, Skip> => {
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
    const isTooLittle = leastTransferUsd !== undefined && overUsd < leastTransferUsd && overUsd > -leastTransferUsd
    skips.set(chainId, {
      chainId,
      assetId: null,
      code: isTooLittle ? SkipCode.belowMinTransfer : SkipCode.crossChainPending,
      valueUsd: overUsd,
      reason: isTooLittle ? tooLittleFor(overUsd, leastTransferUsd) : reasonFor(overUsd)
    })
  }
  return skips
}
