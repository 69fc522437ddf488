/** How far each asset of a chain is from its target, and what its band allows. US dollars (wad). */
import { bandWidth, type BandWidth, nano } from "#domain/planning/bands/bandWidth.ts"
import type { ChainView } from "#domain/planning/ChainView.ts"
import type { PolicyTerms } from "#domain/planning/bands/PolicyTerms.ts"
import type { PlanPosition } from "#domain/planning/PlanPosition.ts"
import { type Shares, sharesOf } from "#domain/planning/Shares.ts"

const bps = 10_000n

export interface Drift {
  readonly position: PlanPosition
  readonly width: BandWidth
  /** Excess above its target; negative below it. */
  readonly excessUsd: bigint
  /** How far it may be from its target, and how far from it it is traded to. */
  readonly halfUsd: bigint
  readonly goalUsd: bigint
}

const none: BandWidth = { half: 0n, goal: 0n }

/** What the portfolio would be worth if all of it stood to its weights as this chain does. */
export const portfolioUsdOf = (sharedUsd: bigint, weight: bigint): bigint => (sharedUsd * bps) / weight

/**
 * The band of each asset of a chain with targets, in the order of its positions. They do not depend on what is held.
 */
export const widthsOf = (
  { positions, valueUsd, weight }: ChainView,
  { costs, gas, policy }: PolicyTerms
): ReadonlyArray<BandWidth> => {
  const portfolioUsd = portfolioUsdOf(valueUsd, weight)
  const fixedCostNano = portfolioUsd > 0n ? ((gas.operationUsd + gas.swapUsd) * nano) / portfolioUsd : 0n
  // Assets of one weight and cost have one width, and finding it takes roots.
  const usual = new Map<string, BandWidth>()
  return positions.map(({ assetId, weight: target }) => {
    if (target <= 0n) return none
    const override = policy.overrides.get(assetId)
    const terms = { weight: target, costNano: costs.ofBand(assetId), fixedCostNano }
    if (override !== undefined) return bandWidth(override, terms, policy.tradeTo)
    const key = `${target}/${terms.costNano}`
    const known = usual.get(key)
    if (known !== undefined) return known
    const width = bandWidth(policy.band, terms, policy.tradeTo)
    usual.set(key, width)
    return width
  })
}

/** `widths` are in the order of the positions. */
export const driftsOf = (
  { positions, totalUsd, weight }: Shares,
  widths: ReadonlyArray<BandWidth>
): ReadonlyArray<Drift> => {
  const portfolioUsd = portfolioUsdOf(totalUsd, weight)
  const shareOf = sharesOf({ totalUsd, weight })
  return positions.map((position, index) => {
    const width = widths[index]!
    return {
      position,
      width,
      excessUsd: position.valueUsd - shareOf(position.weight),
      halfUsd: (width.half * portfolioUsd) / nano,
      goalUsd: (width.goal * portfolioUsd) / nano
    }
  })
}
