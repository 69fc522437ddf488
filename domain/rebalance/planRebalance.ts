/**
 * The rebalance planner: from what a portfolio holds to the trades that bring it on target.
 *
 * Pure and exact: integers only, the same input always gives the same plan. First the chains against each other, then
 * each chain on its own, around what leaves it and what is on its way to it.
 */
import { type ChainId, chainIdOf } from "#domain/Caip.ts"
import { type ChainView, readChain } from "#domain/rebalance/ChainView.ts"
import { crossChain } from "#domain/rebalance/crossChain.ts"
import { planAround } from "#domain/rebalance/planAround.ts"
import type { ChainPlan, Plan, PlanInput } from "#domain/rebalance/Plan.ts"
import type { TargetWeight } from "#domain/strategy/Strategy.ts"
import { leastTransferUsd, planTransfers } from "#domain/rebalance/planTransfers.ts"
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
  transfers: [],
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

/** Whether the input shows all of the portfolio: what moved for want of a reading would have to move back. */
const isComplete = (input: PlanInput, views: ReadonlyMap<ChainId, ChainView>): boolean =>
  input.chains.every(({ chainId }) => views.has(chainId)) &&
  input.allocation.every(({ assetId }) => views.has(chainIdOf(assetId))) &&
  [...views.values()].every(({ unvalued }) => unvalued.every(({ weight }) => weight === 0))

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
    if (!chain.available) continue
    views.set(
      chain.chainId,
      readChain(chain, allocation.get(chain.chainId) ?? [], input.transfers?.assets.get(chain.chainId))
    )
  }
  const known = [...views.values()].filter((view) => !isShareUnknown(view))
  const terms = input.transfers !== undefined && isComplete(input, views) ? input.transfers : undefined
  const moves = terms === undefined ? [] : planTransfers(known, terms, input)
  const movedUsd = ({ chainId }: ChainView) =>
    moves.reduce((sum, { from, to, usd }) => sum + (to === chainId ? usd : 0n) - (from === chainId ? usd : 0n), 0n)
  const totalUsd = known.reduce((sum, { valueUsd }) => sum + valueUsd, 0n)
  const leastUsd = terms === undefined ? undefined : leastTransferUsd(totalUsd, terms, thresholdUsd)
  const pending = crossChain(
    known.map((view) => ({ ...view, valueUsd: view.valueUsd + movedUsd(view) })),
    thresholdUsd,
    leastUsd
  )
  const chains = input.chains.map(({ chainId }) => {
    const view = views.get(chainId)
    if (view === undefined) return unavailable(chainId, allocation.get(chainId) ?? [])
    const chainPlan = planAround(view, views, moves, { thresholdUsd, cost, terms })
    const skip = pending.get(chainId)
    return skip === undefined ? chainPlan : { ...chainPlan, skips: [...chainPlan.skips, skip] }
  })
  return { chains }
}
