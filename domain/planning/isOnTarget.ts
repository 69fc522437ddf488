/**
 * Whether there is nothing to do for a portfolio, and nothing to report: everything was read, and what it is off its
 * target by is not worth a trade.
 */
import type { Holding, Plan, PlanInput } from "#domain/planning/Plan.ts"
import { SkipCode } from "#domain/values/Skip.ts"

/**
 * What a portfolio may be off its target by, or have beside it, and still be on it. Every other skip needs a run that
 * reports it.
 */
const slight: ReadonlySet<SkipCode> = new Set([
  SkipCode.belowMinTrade,
  SkipCode.belowMinTransfer,
  SkipCode.withinBand,
  SkipCode.notWorthCost,
  SkipCode.noMarket
])

const isHeld = ({ balanceRaw, incomingRaw = 0n }: Holding): boolean => balanceRaw + incomingRaw > 0n

const isPriced = ({ priceIsStale, priceUsd }: Holding): boolean => priceUsd !== null && priceUsd > 0n && !priceIsStale

/** What nobody asked for and no market backs is nothing to wait for. */
const isKnown = (holding: Holding): boolean => isPriced(holding) || holding.unbacked !== undefined

/** `plan` is the plan of `input`. A portfolio that holds nothing is on target whatever the prices are. */
export const isOnTarget = ({ chains }: PlanInput, plan: Plan): boolean => {
  const holdings = chains.flatMap((chain) => chain.holdings)
  return (
    chains.every(({ available }) => available) &&
    (holdings.every(isKnown) || !holdings.some(isHeld)) &&
    holdings.every(({ foreignAuthority }) => foreignAuthority === undefined) &&
    plan.chains.every(
      ({ legs, skips, transfers }) =>
        legs.length === 0 && transfers.length === 0 && skips.every(({ code }) => slight.has(code))
    )
  )
}
