/**
 * The legs by which a chain follows a rebalance policy: those that bring assets back into their bands, as far as they
 * are worth their cost and within what the policy lets trading cost.
 */
import { attainable, canFillAll } from "#domain/planning/legs/attainable.ts"
import { bandNeeds } from "#domain/planning/bands/bandNeeds.ts"
import type { ChainView } from "#domain/planning/ChainView.ts"
import { benefitOf, costOf, type Worth } from "#domain/planning/bands/costGate.ts"
import { type DraftLeg, legOf } from "#domain/planning/legs/DraftLeg.ts"
import { type Drift, driftsOf, portfolioUsdOf, widthsOf } from "#domain/planning/bands/drift.ts"
import { legsOnPairs } from "#domain/planning/bands/legsOnPairs.ts"
import { matchLegs } from "#domain/planning/legs/matchLegs.ts"
import type { Leg } from "#domain/planning/Plan.ts"
import { type ChainGas, defaultVolatility, type PlanPolicy } from "#domain/planning/PlanPolicy.ts"
import type { PolicyMeasures } from "#domain/planning/PolicyMeasures.ts"
import type { PolicyTerms } from "#domain/planning/bands/PolicyTerms.ts"
import { positionsAfter } from "#domain/planning/positionsAfter.ts"
import type { ChainRebalance } from "#domain/planning/legs/rebalanceChain.ts"
import type { Shares } from "#domain/planning/Shares.ts"
import { sweepLegs } from "#domain/planning/bands/sweepLegs.ts"
import type { TradeTerms } from "#domain/planning/Tolerance.ts"
import { boughtAt, billion, tradeCosts } from "#domain/planning/bands/tradeCost.ts"

/**
 * Rounds in which the cost of the trades is taken out of what the targets share; each is a fraction of the one before.
 */
const costRounds = 3

const noGas: ChainGas = { operationUsd: 0n, swapUsd: 0n }

export interface PolicyRebalance extends ChainRebalance {
  readonly drifts: ReadonlyArray<Drift>
  /** Measures for the run's record. */
  readonly measures: PolicyMeasures
  /** What was planned and is not worth its cost, with both figures. */
  readonly unworthy?: Worth
  /** What was planned and not made because the policy's limit of cost was reached; US dollars (wad) of it. */
  readonly beyondLimit?: Pick<Worth, "costUsd" | "isGasUnknown"> & { readonly usd: bigint; readonly limitUsd: bigint }
}

/** The legs that cost no more than the limit together, the one that passes it cut to what is left; else left out. */
const withinCost = (
  legs: ReadonlyArray<Leg>,
  limitUsd: bigint | undefined,
  { costs, gas, tolerance }: PolicyTerms
): ReadonlyArray<Leg> => {
  if (limitUsd === undefined || costOf(legs, costs, gas).costUsd <= limitUsd) return legs
  let leftUsd = limitUsd - gas.operationUsd
  const kept: Array<Leg> = []
  for (const leg of legs) {
    const rate = costs.ofPair(leg.sell, leg.buy) + costs.reserve
    const affordableUsd = rate === 0n ? leg.valueUsd : ((leftUsd - gas.swapUsd) * billion) / rate
    const valueUsd = affordableUsd < leg.valueUsd ? affordableUsd : leg.valueUsd
    if (valueUsd < tolerance.tradeUsd) continue
    const cut: Leg = {
      ...leg,
      valueUsd,
      sellAmountRaw: (leg.sellAmountRaw * valueUsd) / leg.valueUsd,
      expectedBuyRaw: (leg.expectedBuyRaw * valueUsd) / leg.valueUsd
    }
    if (cut.sellAmountRaw <= 0n || cut.expectedBuyRaw <= 0n) continue
    kept.push(cut)
    leftUsd -= (valueUsd * rate) / billion + gas.swapUsd
  }
  return kept
}

const sumOf = (values: ReadonlyArray<{ readonly valueUsd: bigint }>): bigint =>
  values.reduce((sum, { valueUsd }) => sum + valueUsd, 0n)

/**
 * Swaps that share pools are quoted one after the other, so what each costs depends on the order; one that does not
 * follow from the amounts lets quotes converge.
 */
const byAssets = (a: Leg, b: Leg): number => (a.sell === b.sell ? (a.buy < b.buy ? -1 : 1) : a.sell < b.sell ? -1 : 1)

const measuresOf = (
  drifts: ReadonlyArray<Drift>,
  worth: Worth | undefined,
  { costs, policy }: PolicyTerms
): PolicyMeasures => ({
  worth: worth ?? null,
  bands: drifts.map(({ position: { assetId }, width }) => ({
    assetId,
    ...width,
    cost: costs.ofBand(assetId),
    volatility: policy.volatility.get(assetId) ?? defaultVolatility
  }))
})

/** `limitUsd` is what trading on the chain may cost now, US dollars (wad); undefined: no limit. */
export const rebalanceWithin = (
  view: ChainView,
  { cost, tolerance }: TradeTerms,
  { limitUsd, policy }: { readonly policy: PlanPolicy; readonly limitUsd: bigint | undefined }
): PolicyRebalance => {
  const { chainId, dueUsd = 0n, positions, valueUsd, weight } = view
  const known = policy.gas.get(chainId)
  const gas = known ?? noGas
  const unknown = known === undefined ? { isGasUnknown: true } : {}
  const costs = tradeCosts(cost, policy)
  const terms: PolicyTerms = { tolerance, cost, policy, costs, gas }
  const widths = widthsOf(view, terms)
  const sharesIn = (totalUsd: bigint): Shares => ({ positions, weight, totalUsd })
  const isFillable = canFillAll(positions)
  const sharedOf = (totalUsd: bigint) => {
    const maxUsd = totalUsd > dueUsd ? totalUsd : dueUsd
    return isFillable ? maxUsd : attainable(sharesIn(maxUsd), cost)
  }

  const finish = (draft: DraftLeg): Leg =>
    legOf(chainId, draft, (sale) => boughtAt(sale, costs.ofPair(sale.seller.assetId, sale.buyer.assetId)))

  const legsAt = (drifts: ReadonlyArray<Drift>): ReadonlyArray<Leg> => {
    const open = bandNeeds(drifts, terms)
    const known = policy.pairs && legsOnPairs(open, policy.pairs, terms)
    const legs = (known ?? matchLegs(open, terms)).map(finish)
    const swept = sweepLegs(drifts, legs, terms).map(finish)
    return [...legs, ...swept].filter((leg) => leg.sellAmountRaw > 0n && leg.expectedBuyRaw > 0n).toSorted(byAssets)
  }

  const heldUsd = sharedOf(valueUsd)
  const drifts = driftsOf(sharesIn(heldUsd), widths)
  let legs = legsAt(drifts)
  for (let round = 1; round < costRounds && legs.length > 0; round += 1) {
    const lostUsd = costOf(legs, { ...costs, reserve: 0n }, noGas).costUsd
    legs = legsAt(driftsOf(sharesIn(sharedOf(valueUsd - lostUsd)), widths))
  }
  const affordable = withinCost(legs, limitUsd, terms)
  const beyondUsd = sumOf(legs) - sumOf(affordable)
  const limited =
    beyondUsd > 0n
      ? {
          beyondLimit: {
            usd: beyondUsd,
            costUsd: costOf(legs, costs, gas).costUsd,
            limitUsd: limitUsd ?? 0n,
            ...unknown
          }
        }
      : {}
  const result = positionsAfter(positions, affordable)
  const worth: Worth = {
    benefitUsd: benefitOf({ drifts, result, portfolioUsd: portfolioUsdOf(heldUsd, weight) }, terms),
    ...costOf(affordable, costs, gas),
    ...unknown
  }
  if (affordable.length === 0 || worth.benefitUsd <= worth.costUsd) {
    const unworthy: { readonly unworthy?: Worth } = affordable.length === 0 ? {} : { unworthy: worth }
    const measures = measuresOf(drifts, unworthy.unworthy, terms)
    return { legs: [], result: positions, totalUsd: heldUsd, drifts, measures, ...unworthy, ...limited }
  }
  const measures = measuresOf(drifts, worth, terms)
  return { legs: affordable, result, totalUsd: sharedOf(sumOf(result)), drifts, measures, ...limited }
}
