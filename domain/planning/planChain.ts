/**
 * The plan for one readable chain.
 */
import type { ChainId } from "#domain/values/Caip.ts"
import type { ChainView } from "#domain/planning/ChainView.ts"
import { inTransitSkip, skipsOn, unvaluedSkip } from "#domain/planning/explainSkips.ts"
import type { AssetTarget, ChainPlan, Leg } from "#domain/planning/Plan.ts"
import { minTradeUsd, type PlanPolicy } from "#domain/planning/PlanPolicy.ts"
import { policySkips } from "#domain/planning/bands/policySkips.ts"
import type { PlanPosition } from "#domain/planning/PlanPosition.ts"
import { type ChainRebalance, rebalanceChain } from "#domain/planning/legs/rebalanceChain.ts"
import { type PolicyRebalance, rebalanceWithin } from "#domain/planning/bands/rebalanceWithin.ts"
import type { Skip } from "#domain/values/Skip.ts"
import type { SwapCost } from "#domain/planning/SwapCost.ts"
import { toleranceFor, type TradeTerms } from "#domain/planning/Tolerance.ts"
import { sharesOf } from "#domain/planning/Shares.ts"

interface Arrived {
  readonly legs: ReadonlyArray<Leg>
  readonly skips: ReadonlyArray<Skip>
}

/** Cuts the legs down to what has arrived of the asset they sell; what is left of one must still be worth a trade. */
const withinArrived = (legs: ReadonlyArray<Leg>, positions: ReadonlyArray<PlanPosition>, minUsd: bigint): Arrived => {
  const inTransit = positions.find(({ incomingRaw }) => incomingRaw > 0n)
  if (inTransit === undefined) return { legs, skips: [] }
  let leftRaw = inTransit.balanceRaw > inTransit.incomingRaw ? inTransit.balanceRaw - inTransit.incomingRaw : 0n
  const kept: Array<Leg> = []
  const skips: Array<Skip> = []
  for (const leg of legs) {
    const isWithin = leg.sell !== inTransit.assetId || leg.sellAmountRaw <= leftRaw
    const sellAmountRaw = isWithin ? leg.sellAmountRaw : leftRaw
    const cut: Leg = {
      ...leg,
      sellAmountRaw,
      valueUsd: (leg.valueUsd * sellAmountRaw) / leg.sellAmountRaw,
      expectedBuyRaw: (leg.expectedBuyRaw * sellAmountRaw) / leg.sellAmountRaw
    }
    const isWorth = isWithin || (cut.valueUsd >= minUsd && cut.expectedBuyRaw > 0n)
    if (isWorth) kept.push(cut)
    if (isWorth && leg.sell === inTransit.assetId) leftRaw -= sellAmountRaw
    if (!isWithin) skips.push(inTransitSkip(leg, leg.valueUsd - (isWorth ? cut.valueUsd : 0n)))
  }
  return { legs: kept, skips }
}

/** A policy, and what trading may cost on a chain (US dollars, wad; undefined: no limit). */
export interface ChainRebalancePolicy {
  readonly policy: PlanPolicy
  readonly limitOf: (view: ChainView) => bigint | undefined
}

export interface PlanParameters {
  readonly thresholdUsd: bigint
  readonly costOn: (chainId: ChainId) => SwapCost
  /** Left out: every deviation is traded to its target. */
  readonly policy?: ChainRebalancePolicy
}

/** Rebalanced by the policy, where there is one and the chain has targets that a band can be a part of. */
const rebalanceBy = (
  { around, view }: { readonly view: ChainView; readonly around: ChainView },
  terms: TradeTerms,
  policy: ChainRebalancePolicy | undefined
): ChainRebalance & { readonly byPolicy?: PolicyRebalance } => {
  if (policy === undefined || view.weight === 0n) return rebalanceChain(around, terms)
  const byPolicy = rebalanceWithin(around, terms, { policy: policy.policy, limitUsd: policy.limitOf(view) })
  return { ...byPolicy, byPolicy }
}

const minOf = ({ policy, thresholdUsd }: PlanParameters, chainId: ChainId): bigint =>
  policy === undefined ? thresholdUsd : minTradeUsd(thresholdUsd, policy.policy, chainId)

/**
 * Plans a chain on its own: its value is shared by its own weights. A chain without weights keeps what it holds.
 *
 * `around` is the chain as the plan has to see it when value leaves it or comes to it; what is held, and the weights of
 * the allocation, are reported from `view` all the same.
 */
export const planChain = (view: ChainView, parameters: PlanParameters, around: ChainView = view): ChainPlan => {
  const { chainId } = view
  const { policy } = parameters
  const cost = parameters.costOn(chainId)
  const tolerance = toleranceFor(minOf(parameters, chainId), around.positions)
  const { byPolicy, legs: planned, result, totalUsd } = rebalanceBy({ view, around }, { tolerance, cost }, policy)
  const { legs, skips: onTheWay } = withinArrived(planned, around.positions, tolerance.tradeUsd)
  const shareOf = sharesOf({ totalUsd, weight: around.weight })
  const skipFor = skipsOn(chainId, tolerance)
  const targets: Array<AssetTarget> = []
  const skips: Array<Skip> = [...onTheWay, ...(byPolicy === undefined ? [] : policySkips(chainId, byPolicy))]
  // Planned are the positions of the view, in its order, without those that are left out around what leaves the chain.
  let at = 0
  for (const position of view.positions) {
    const { assetId, valueUsd } = position
    const left = result[at]?.assetId === assetId ? result[at] : undefined
    const bandUsd = left === undefined ? undefined : byPolicy?.drifts[at]!.halfUsd
    if (left !== undefined) at += 1
    const targetUsd = left === undefined || around.weight === 0n ? valueUsd : shareOf(left.weight)
    targets.push({ assetId, weight: Number(position.weight), valueUsd, targetUsd })
    if (left === undefined || around.weight === 0n) continue
    const skip = skipFor(left, left.valueUsd - targetUsd, bandUsd)
    if (skip !== undefined) skips.push(skip)
  }
  for (const unvalued of view.unvalued) {
    targets.push({ assetId: unvalued.assetId, weight: unvalued.weight, valueUsd: null, targetUsd: null })
    skips.push(unvaluedSkip(chainId, unvalued))
  }
  return {
    chainId,
    valueUsd: view.valueUsd,
    weight: Number(view.weight),
    targets,
    legs,
    transfers: [],
    skips,
    ...(byPolicy === undefined ? {} : { measures: byPolicy.measures })
  }
}
