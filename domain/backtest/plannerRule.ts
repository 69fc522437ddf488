/**
 * The planner of the service as a rule: what it plans is what is traded.
 *
 * All assets are taken to be on one chain: value that really has to cross to another costs a transfer instead of a
 * swap. Each is a token worth a dollar, with its price in the balance.
 */
import type { Rule } from "#domain/backtest/followRule.ts"
import { type AssetId, ChainId, erc20, type EvmAddress } from "#domain/values/Caip.ts"
import * as Decimal from "#domain/values/Decimal.ts"
import type { PlanPolicy } from "#domain/planning/PlanPolicy.ts"
import { plan } from "#domain/planning/planRebalance.ts"

export const plannedChain = ChainId.make(1)

/** The asset that stands for the one at a position of the allocation. */
export const plannedAsset = (index: number): AssetId =>
  erc20(plannedChain, `0x${(index + 1).toString(16).padStart(40, "0")}` as EvmAddress)

export interface PlannerTerms {
  /** Targets, basis points. */
  readonly weights: ReadonlyArray<number>
  readonly thresholdUsd: bigint
  readonly feeBps: number
  /** Whether the portfolio is checked at a step; at every step when left out. */
  readonly isDue?: (step: number) => boolean
  /**
   * The policy at a step, and the value of the portfolio then; left out: every deviation of the threshold is traded.
   */
  readonly policyAt?: (step: number, valueUsd: bigint) => PlanPolicy
  /** Receives the estimated cost of trades by a policy, US dollars (wad). */
  readonly onCost?: (step: number, usd: bigint) => void
}

export const plannerRule = ({ feeBps, isDue, onCost, policyAt, thresholdUsd, weights }: PlannerTerms): Rule => {
  const allocation = weights.map((weight, index) => ({ assetId: plannedAsset(index), weight }))
  const indexOf = new Map(allocation.map(({ assetId }, index) => [assetId, index]))
  return (step, valuesUsd) => {
    if (isDue !== undefined && !isDue(step)) return []
    const policy = policyAt?.(
      step,
      valuesUsd.reduce((sum, value) => sum + value, 0n)
    )
    const holdings = valuesUsd.map((valueUsd, index) => ({
      assetId: allocation[index]!.assetId,
      decimals: 18,
      balanceRaw: valueUsd > 0n ? valueUsd : 0n,
      priceUsd: Decimal.one,
      priceIsStale: false,
      isBlocked: false,
      isAuthorized: true
    }))
    const [chain] = plan({
      chains: [{ chainId: plannedChain, available: true, holdings }],
      allocation,
      preferences: { thresholdUsd },
      feeBps,
      ...(policy === undefined ? {} : { policy })
    }).chains
    const { legs, measures } = chain!
    if (legs.length > 0 && measures?.worth != null) onCost?.(step, measures.worth.costUsd)
    return legs.map(({ buy, sell, valueUsd }) => ({ from: indexOf.get(sell)!, to: indexOf.get(buy)!, usd: valueUsd }))
  }
}
