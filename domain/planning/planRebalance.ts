/**
 * The rebalance planner: from what a portfolio holds to the trades that bring it on target.
 *
 * Pure and exact: integers only, the same input always gives the same plan. First the chains against each other, then
 * each chain on its own, around what leaves it and what is on its way to it.
 */
import { type ChainId, chainIdOf } from "#domain/values/Caip.ts"
import { type ChainView, readChain } from "#domain/planning/ChainView.ts"
import { crossChain, type Movement } from "#domain/planning/transfers/crossChain.ts"
import { type ChainPlan, feeBpsOn, type Plan, type PlanInput } from "#domain/planning/Plan.ts"
import type { ChainRebalancePolicy } from "#domain/planning/planChain.ts"
import { planChains } from "#domain/planning/transfers/planChains.ts"
import type { PlanPolicy } from "#domain/planning/PlanPolicy.ts"
import type { TargetWeight } from "#domain/mandate/Allocation.ts"
import { minTransferUsd, planTransfers } from "#domain/planning/transfers/planTransfers.ts"
import { chainSkip, SkipCode } from "#domain/values/Skip.ts"
import * as SwapCost from "#domain/planning/SwapCost.ts"
import * as Weight from "#domain/values/Weight.ts"

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
  skips: [{ chainId, ...chainSkip(SkipCode.chainUnavailable, unread(allocation)) }]
})

const unread = (allocation: ReadonlyArray<TargetWeight>): string => {
  const due = Weight.format(allocation.reduce((sum, { weight }) => sum + weight, 0))
  return `The chain could not be read, so nothing of its ${due} percent of the portfolio is traded; the next run tries again.`
}

/** True when nothing is known of the share of a chain: everything it should hold is held without a price. */
const isShareUnknown = (view: ChainView): boolean =>
  view.weight === 0n && view.unvalued.some((target) => target.weight > 0)

/** Whether the input shows all of the portfolio: what moved for want of a reading would have to move back. */
const isComplete = (input: PlanInput, views: ReadonlyMap<ChainId, ChainView>): boolean =>
  input.chains.every(({ chainId }) => views.has(chainId)) &&
  input.allocation.every(({ assetId }) => views.has(chainIdOf(assetId))) &&
  [...views.values()].every(({ unvalued }) => unvalued.every(({ weight }) => weight === 0))

const totalOf = (views: ReadonlyArray<ChainView>): bigint => views.reduce((sum, { valueUsd }) => sum + valueUsd, 0n)

/**
 * The chains of a portfolio that exchange value, each with what its weights are worth. All of the portfolio is known.
 */
const withDue = (known: ReadonlyArray<ChainView>): ReadonlyMap<ChainId, ChainView> => {
  const totalUsd = totalOf(known)
  const totalWeight = known.reduce((sum, { weight }) => sum + weight, 0n)
  return new Map(
    known.map((view) => [
      view.chainId,
      { ...view, dueUsd: totalWeight === 0n ? 0n : (totalUsd * view.weight) / totalWeight }
    ])
  )
}

/** What the policy lets trading cost is shared by the chains as they share the portfolio's value. */
const chainPolicy = (policy: PlanPolicy, totalUsd: bigint): ChainRebalancePolicy => ({
  policy,
  limitOf: ({ valueUsd }) =>
    policy.maxCostUsd === undefined || totalUsd <= 0n ? undefined : (policy.maxCostUsd * valueUsd) / totalUsd
})

const movementOf = (
  input: PlanInput,
  views: ReadonlyMap<ChainId, ChainView>,
  known: ReadonlyArray<ChainView>
): Movement => {
  const { preferences, transfers: terms } = input
  if (terms === undefined) return { _tag: "None" }
  if (terms.isUnclear === true) return { _tag: "Unclear" }
  if (!isComplete(input, views)) return { _tag: "Incomplete" }
  return { _tag: "Open", terms, minUsd: minTransferUsd(totalOf(known), terms, preferences.thresholdUsd) }
}

/**
 * Plans the rebalance of a portfolio.
 *
 * Trades as little as possible, pays for its own costs out of the targets, and is stable: planned again on what the
 * plan expects to leave, it has no legs. After it every asset that may be traded is within the threshold of its target,
 * as far as the assets that may not, whole token units and pieces below the threshold allow.
 */
export const plan = (input: PlanInput): Plan => {
  const { thresholdUsd } = input.preferences
  const costOn = (chainId: ChainId) => SwapCost.fromFeeBps(feeBpsOn(input, chainId), input.headroomBps)
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
  const movement = movementOf(input, views, known)
  const terms = movement._tag === "Open" ? movement.terms : undefined
  const moves = terms === undefined ? [] : planTransfers(known, terms, input)
  const { plans, transfers } = planChains(
    terms === undefined ? views : withDue(known),
    { moves, terms },
    {
      thresholdUsd,
      costOn,
      ...(input.policy === undefined ? {} : { policy: chainPolicy(input.policy, totalOf(known)) })
    }
  )
  const pending = crossChain(known, { movement, transfers }, thresholdUsd)
  const chains = input.chains.map(({ chainId }) => {
    const chainPlan = plans.get(chainId)
    if (chainPlan === undefined) return unavailable(chainId, allocation.get(chainId) ?? [])
    const skip = pending.get(chainId)
    return skip === undefined ? chainPlan : { ...chainPlan, skips: [...chainPlan.skips, skip] }
  })
  return { chains }
}
