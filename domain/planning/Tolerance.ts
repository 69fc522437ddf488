/**
 * How far from its target an asset may be before it is worth a trade.
 *
 * One level would not do. Rounding to raw units and to whole legs shifts every target a little, so an asset left just
 * under the level by one plan could be just over it for the next, and the account would trade for nothing. A chain
 * therefore starts to trade when an asset is off by `tradeUsd`, and once it trades it corrects everything that is off
 * by `correctUsd`, a margin less. What a plan leaves is then a margin away from starting the next one.
 */
import type { PlanPosition } from "#domain/planning/PlanPosition.ts"
import type { SwapCost } from "#domain/planning/SwapCost.ts"

export interface Tolerance {
  /** A deviation of this much starts a trade, and no leg is smaller. US dollars (wad), like the others. */
  readonly tradeUsd: bigint
  /** A chain that trades corrects every deviation of this much. */
  readonly correctUsd: bigint
  /** Less than this is no deviation: the slack that rounding needs. */
  readonly marginUsd: bigint
  /** A leg may take an asset past its target when the asset was off by at least this much. */
  readonly pastUsd: bigint
}

/** What decides how much a trade of a chain moves. */
export interface TradeTerms {
  readonly tolerance: Tolerance
  readonly cost: SwapCost
}

/** One cent: deviations below it are rounding, and are not reported. */
export const dustUsd = 10_000_000_000_000_000n

const marginParts = 50n

/**
 * The tolerance for a chain: the threshold of the preferences, raised where the target tokens are too coarse for it.
 *
 * Each purchase loses up to one raw unit to rounding, so the margin has to hold one unit of every target asset. Those
 * with units above a cent do not count: they are traded as coarse assets.
 */
export const toleranceFor = (thresholdUsd: bigint, positions: ReadonlyArray<PlanPosition>): Tolerance => {
  let roundingUsd = 0n
  for (const { unitUsd, weight } of positions) if (weight > 0n && unitUsd <= dustUsd) roundingUsd += unitUsd
  let tradeUsd = thresholdUsd > dustUsd ? thresholdUsd : dustUsd
  if (tradeUsd < roundingUsd * marginParts) tradeUsd = roundingUsd * marginParts
  const marginUsd = tradeUsd / marginParts
  return { tradeUsd, correctUsd: tradeUsd - marginUsd, marginUsd, pastUsd: marginUsd }
}

/**
 * The tolerance where what is to be sold and what is to be bought differ by `mismatchUsd`.
 *
 * As long as both match, many small gaps may stand against one large excess; to fill some of them a little past their
 * targets is then the only way to bring all within the threshold. Where assets that cannot be traded break the match,
 * the excess has nowhere to go: a leg past a target is only made when it leaves that asset no further off than before.
 */
export const underMismatch = (tolerance: Tolerance, mismatchUsd: bigint): Tolerance =>
  mismatchUsd < tolerance.tradeUsd ? tolerance : { ...tolerance, pastUsd: tolerance.tradeUsd / 2n }

/** Whether rounding an amount of the asset to whole raw units does not matter. Other assets are coarse. */
export const isFine = (position: PlanPosition, tolerance: Tolerance): boolean => position.unitUsd <= tolerance.marginUsd
