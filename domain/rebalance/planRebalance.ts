/**
 * The rebalance planner: from what a portfolio holds to the trades that bring it on target.
 *
 * Pure and exact: integers only, the same input always gives the same plan. Each chain is planned on its own, since
 * value does not move between chains yet.
 */
import { type ChainId, chainIdOf } from "#domain/Caip.ts"
import { type ChainView, readChain } from "#domain/rebalance/ChainView.ts"
import { crossChain } from "#domain/rebalance/crossChain.ts"
import type { ChainPlan, Plan, PlanInput } from "#domain/rebalance/Plan.ts"
import type { TargetWeight } from "#domain/strategy/Strategy.ts"
import { planChain } from "#domain/rebalance/planChain.ts"
import { SkipCode } from "#domain/rebalance/Skip.ts"
import * as SwapCost from "#domain/rebalance/SwapCost.ts"

const byChain = (allocation: ReadonlyArray<TargetWeight>): ReadonlyMap<ChainId, ReadonlyArray<TargetWeight>> => {
  const groups = new Map<ChainId, Array<TargetWeight>>()
  for (const target of allocation) {
    const chainId = chainIdOf(target.assetId)
    const group = groups.get(chainId)
    if (group === undefined) groups.set(chainId, [target])
    else group.push(target)
  }
  return groups
}

const unavailable = (chainId: ChainId, allocation: ReadonlyArray<TargetWeight>): ChainPlan => ({
  chainId,
  valueUsd: null,
  weight: allocation.reduce((sum, target) => sum + target.weight, 0),
  targets: [],
  legs: [],
  skips: [
    {
      chainId,
      assetId: null,
      code: SkipCode.chainUnavailable,
      valueUsd: null,
      reason: "The chain could not be read, so nothing is traded on it; the next run tries again."
    }
  ]
})

/** True when nothing is known of the share of a chain: everything it should hold is held without a price. */
const isShareUnknown = (view: ChainView): boolean =>
  view.weight === 0n && view.unvalued.some((target) => target.weight > 0)

/**
 * Plans the rebalance of a portfolio.
 *
 * Trades as little as possible, pays for its own costs out of the targets, and comes to rest: planned again on what the
 * plan expects to leave, it has no legs. After it every asset that may be traded is within the threshold of its target,
 * as far as the assets that may not, whole token units and pieces below the threshold allow.
 */
export const plan = (input: PlanInput): Plan => {
  const { thresholdUsd } = input.preferences
  const cost = SwapCost.fromFeeBps(input.feeBps)
  const allocation = byChain(input.allocation)
  const views = new Map<ChainId, ChainView>()
  for (const chain of input.chains) {
    if (chain.available) views.set(chain.chainId, readChain(chain, allocation.get(chain.chainId) ?? []))
  }
  const pending = crossChain(
    [...views.values()].filter((view) => !isShareUnknown(view)),
    thresholdUsd
  )
  const chains = input.chains.map(({ chainId }) => {
    const view = views.get(chainId)
    if (view === undefined) return unavailable(chainId, allocation.get(chainId) ?? [])
    const chainPlan = planChain(view, thresholdUsd, cost)
    const skip = pending.get(chainId)
    return skip === undefined ? chainPlan : { ...chainPlan, skips: [...chainPlan.skips, skip] }
  })
  return { chains }
}
