/**
 * The plan for one readable chain.
 */
import type { ChainId } from "#domain/Caip.ts"
import type { ChainView } from "#domain/rebalance/ChainView.ts"
import type { DraftLeg } from "#domain/rebalance/DraftLeg.ts"
import { awaitedSkip, skipFor, unvaluedSkip } from "#domain/rebalance/explainSkips.ts"
import { isOffTarget } from "#domain/rebalance/isOffTarget.ts"
import { matchLegs } from "#domain/rebalance/matchLegs.ts"
import { openPositions } from "#domain/rebalance/openPositions.ts"
import type { AssetTarget, ChainPlan, Leg } from "#domain/rebalance/Plan.ts"
import type { Position } from "#domain/rebalance/Position.ts"
import { resultOf } from "#domain/rebalance/resultOf.ts"
import { settleTarget } from "#domain/rebalance/settleTarget.ts"
import type { Skip } from "#domain/rebalance/Skip.ts"
import { type SwapCost, whole } from "#domain/rebalance/SwapCost.ts"
import { type Tolerance, toleranceFor } from "#domain/rebalance/Tolerance.ts"

/** Attempts at a settlement. Two are enough for most chains; the later ones are for coarse tokens and high costs. */
const maxAttempts = 8

/** Attempts after which the next one starts halfway, in case two totals lead to each other. */
const fullSteps = 4

const absolute = (value: bigint): bigint => (value < 0n ? -value : value)

interface Settlement {
  readonly legs: ReadonlyArray<DraftLeg>
  /** The positions that the legs leave, in the order of the view. */
  readonly result: ReadonlyArray<Position>
  /** Value of the chain once the legs are paid for, US dollars (wad). */
  readonly totalUsd: bigint
}

/**
 * The legs, and the value they leave.
 *
 * The first attempt takes the exact value of a full settlement. The threshold may leave some of that undone and so save
 * some of its costs, which moves the targets: the next attempt takes the value that the legs really leave. A settlement
 * is good when both agree and its own result calls for no further trade.
 */
const settle = (view: ChainView, tolerance: Tolerance, cost: SwapCost): Settlement => {
  const { positions, valueUsd, weight } = view
  if (weight === 0n || !isOffTarget(positions, weight, valueUsd, tolerance, cost)) {
    return { legs: [], result: positions, totalUsd: valueUsd }
  }
  let expectedUsd = settleTarget(positions, weight, valueUsd, cost)
  let fallback: Settlement | undefined
  for (let attempt = 1; ; attempt += 1) {
    const legs = matchLegs(openPositions(positions, weight, expectedUsd, tolerance.marginUsd, cost), tolerance, cost)
    const leftUsd = valueUsd - (legs.reduce((sum, leg) => sum + leg.usd, 0n) * cost.lost) / whole
    const isConfirmed = absolute(leftUsd - expectedUsd) <= tolerance.marginUsd
    if (isConfirmed || attempt >= fullSteps) {
      const result = resultOf(positions, legs, cost)
      const totalUsd = result.reduce((sum, position) => sum + position.valueUsd, 0n)
      const settlement = { legs, result, totalUsd }
      const isAtRest = !isOffTarget(result, weight, totalUsd, tolerance, cost)
      if (isConfirmed && isAtRest) return settlement
      if (isAtRest) fallback = settlement
      if (attempt === maxAttempts) return fallback ?? settlement
    }
    expectedUsd = attempt < fullSteps ? leftUsd : (expectedUsd + leftUsd) / 2n
  }
}

const finishLeg = (chainId: ChainId, { buyer, buyRaw, seller, sellRaw, usd }: DraftLeg): Leg => ({
  chainId,
  sell: seller.assetId,
  buy: buyer.assetId,
  sellAmountRaw: sellRaw,
  valueUsd: usd,
  expectedBuyRaw: buyRaw
})

interface Arrived {
  readonly legs: ReadonlyArray<Leg>
  readonly skips: ReadonlyArray<Skip>
}

/** Cuts the legs down to what has arrived of the asset they sell; what is left of one must still be worth a trade. */
const withinArrived = (legs: ReadonlyArray<Leg>, positions: ReadonlyArray<Position>, leastUsd: bigint): Arrived => {
  const awaited = positions.find(({ incomingRaw }) => incomingRaw > 0n)
  if (awaited === undefined) return { legs, skips: [] }
  let leftRaw = awaited.balanceRaw - awaited.incomingRaw
  const kept: Array<Leg> = []
  const skips: Array<Skip> = []
  for (const leg of legs) {
    const isWithin = leg.sell !== awaited.assetId || leg.sellAmountRaw <= leftRaw
    const sellAmountRaw = isWithin ? leg.sellAmountRaw : leftRaw
    const cut: Leg = {
      ...leg,
      sellAmountRaw,
      valueUsd: (leg.valueUsd * sellAmountRaw) / leg.sellAmountRaw,
      expectedBuyRaw: (leg.expectedBuyRaw * sellAmountRaw) / leg.sellAmountRaw
    }
    const isWorth = isWithin || (cut.valueUsd >= leastUsd && cut.expectedBuyRaw > 0n)
    if (isWorth) kept.push(cut)
    if (isWorth && leg.sell === awaited.assetId) leftRaw -= sellAmountRaw
    if (!isWithin) skips.push(awaitedSkip(leg, leg.valueUsd - (isWorth ? cut.valueUsd : 0n)))
  }
  return { legs: kept, skips }
}

/** Plans a chain on its own: its value is shared by its own weights. A chain without weights keeps what it holds. */
export const planChain = (view: ChainView, thresholdUsd: bigint, cost: SwapCost): ChainPlan => {
  const { chainId, positions, unvalued, valueUsd, weight } = view
  const tolerance = toleranceFor(thresholdUsd, positions)
  const { legs: drafts, result, totalUsd } = settle(view, tolerance, cost)
  const { legs, skips: awaited } = withinArrived(
    drafts.map((draft) => finishLeg(chainId, draft)),
    positions,
    tolerance.tradeUsd
  )
  const targets: Array<AssetTarget> = []
  const skips: Array<Skip> = [...awaited]
  positions.forEach((position, at) => {
    const { assetId, valueUsd: heldUsd } = position
    const targetUsd = weight === 0n ? heldUsd : (position.weight * totalUsd) / weight
    targets.push({ assetId, weight: Number(position.weight), valueUsd: heldUsd, targetUsd })
    const skip = skipFor(chainId, position, result[at]!.valueUsd - targetUsd, tolerance)
    if (skip !== undefined) skips.push(skip)
  })
  for (const { assetId, weight: share } of unvalued) {
    targets.push({ assetId, weight: share, valueUsd: null, targetUsd: null })
    skips.push(unvaluedSkip(chainId, assetId))
  }
  return { chainId, valueUsd, weight: Number(weight), targets, legs, transfers: [], skips }
}
