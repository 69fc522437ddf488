/**
 * The legs that bring a chain on target, and what they leave.
 */
import { attainable, canFillAll } from "#domain/planning/legs/attainable.ts"
import type { ChainView } from "#domain/planning/ChainView.ts"
import { type DraftLeg, legOf } from "#domain/planning/legs/DraftLeg.ts"
import { isFarOffTarget, isOffTarget } from "#domain/planning/legs/isOffTarget.ts"
import { matchLegs } from "#domain/planning/legs/matchLegs.ts"
import { imbalances } from "#domain/planning/legs/imbalances.ts"
import type { Leg } from "#domain/planning/Plan.ts"
import type { PlanPosition } from "#domain/planning/PlanPosition.ts"
import { positionsAfter } from "#domain/planning/positionsAfter.ts"
import type { Shares } from "#domain/planning/Shares.ts"
import { targetAfterCosts } from "#domain/planning/legs/targetAfterCosts.ts"
import { boughtFor } from "#domain/planning/legs/sizeLeg.ts"
import { whole } from "#domain/planning/SwapCost.ts"
import type { TradeTerms } from "#domain/planning/Tolerance.ts"

/** Attempts at the legs of a chain. Two are enough for most; the later ones are for coarse tokens and high costs. */
const maxAttempts = 8

/** Attempts after which the next one starts halfway, in case two totals lead to each other. */
const fullSteps = 4

const absolute = (value: bigint): bigint => (value < 0n ? -value : value)

export interface ChainRebalance {
  readonly legs: ReadonlyArray<Leg>
  /** The positions that the legs leave, in the order of the view. */
  readonly result: ReadonlyArray<PlanPosition>
  /**
   * What the targets share once the legs are paid for, US dollars (wad): the value of the chain, or more (`dueUsd`).
   */
  readonly totalUsd: bigint
}

const greater = (a: bigint, b: bigint): bigint => (a > b ? a : b)

/**
 * The first attempt takes the exact value that the chain has once it is on target. The threshold may leave some of that
 * undone and so save some of its costs, which moves the targets: the next attempt takes the value that the legs really
 * leave. An attempt is good when both agree, so that no target moves by more than the margin, and its own result calls
 * for no further trade.
 */
export const rebalanceChain = (view: ChainView, terms: TradeTerms): ChainRebalance => {
  const { cost, tolerance } = terms
  const { chainId, dueUsd = 0n, positions, valueUsd, weight } = view
  if (weight === 0n) return { legs: [], result: positions, totalUsd: valueUsd }
  const isFillable = canFillAll(positions)
  const sharesIn = (of: ReadonlyArray<PlanPosition>, totalUsd: bigint): Shares => ({ positions: of, weight, totalUsd })
  const sharedOf = (of: ReadonlyArray<PlanPosition>, totalUsd: bigint): bigint =>
    isFillable && dueUsd <= totalUsd ? totalUsd : attainable(sharesIn(of, greater(totalUsd, dueUsd)), cost)
  const heldUsd = sharedOf(positions, valueUsd)
  const held = sharesIn(positions, heldUsd)
  if (!isFarOffTarget(held, tolerance) && !isOffTarget(held, terms))
    return { legs: [], result: positions, totalUsd: greater(valueUsd, heldUsd) }
  const finish = (draft: DraftLeg): Leg => legOf(chainId, draft, (sale) => boughtFor(sale, cost))
  const heaviest = positions.reduce((most, { weight: one }) => (one > most ? one : most), 1n)
  let expectedUsd = targetAfterCosts(sharesIn(positions, valueUsd), cost)
  let fallback: ChainRebalance | undefined
  for (let attempt = 1; ; attempt += 1) {
    const sharedUsd = sharedOf(positions, expectedUsd)
    const drafts = matchLegs(imbalances(sharesIn(positions, sharedUsd), tolerance.marginUsd, cost), terms)
    const leftUsd = valueUsd - (drafts.reduce((sum, { usd }) => sum + usd, 0n) * cost.lost) / whole
    const isAgreed = absolute(leftUsd - expectedUsd) * heaviest <= tolerance.marginUsd * weight
    if (isAgreed || attempt >= fullSteps) {
      const legs = drafts.map(finish)
      const result = positionsAfter(positions, legs)
      const resultUsd = result.reduce((sum, position) => sum + position.valueUsd, 0n)
      const restUsd = sharedOf(result, resultUsd)
      const attempted = { legs, result, totalUsd: greater(resultUsd, restUsd) }
      const isStable = !isOffTarget(sharesIn(result, restUsd), terms)
      if (isAgreed && isStable) return attempted
      if (isStable) fallback = attempted
      if (attempt === maxAttempts) return fallback ?? attempted
    }
    expectedUsd = attempt < fullSteps ? leftUsd : (expectedUsd + leftUsd) / 2n
  }
}
