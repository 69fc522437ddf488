/**
 * Which of a provider's quotes for a leg are worth more than the venue's quote, after fees and gas, and acceptable
 * under the same limits. Pure.
 */
import { feedMinOutRaw, type PricingLimits, shortfallBps, swapMinOutRaw } from "#domain/trading/priceLegs.ts"
import type { PlannedLeg } from "#domain/values/PlannedTrades.ts"
import type { Quote } from "#domain/trading/Venue.ts"
import type { SwapTerms } from "#domain/trading/Routing.ts"

const bps = 10_000n

export interface Comparison {
  readonly leg: PlannedLeg
  /** What the venue pays: on chain no route may yield less. */
  readonly quote: Quote
  /** Whether the venue's quote is within the limits. */
  readonly isQuoteAcceptable: boolean
  readonly limits: PricingLimits
  /** Basis points by which a route must beat the venue. */
  readonly minAdvantageBps: number
}

/** What the quote yields once its gas is paid, as if that were paid in the bought asset at the feed's prices. */
export const netRaw = ({ expectedBuyRaw, valueUsd }: PlannedLeg, { expectedRaw, gasUsd }: SwapTerms): bigint =>
  valueUsd <= 0n ? expectedRaw : expectedRaw - ceilDiv(gasUsd * expectedBuyRaw, valueUsd)

const ceilDiv = (dividend: bigint, divisor: bigint) => (dividend + divisor - 1n) / divisor

/**
 * Our own minimum amount out: that of the venue's swap, or what the feed's prices yield within the limits where that
 * was refused.
 */
const minOutRaw = ({ isQuoteAcceptable, leg, limits, quote }: Comparison): bigint =>
  isQuoteAcceptable ? swapMinOutRaw(leg, quote, limits) : feedMinOutRaw(leg, limits)

/**
 * Why a route's quote is not taken, as the end of a sentence; undefined when it is better than the venue's quote and
 * acceptable.
 */
export const quoteFault = (comparison: Comparison, routed: SwapTerms): string | undefined => {
  const { isQuoteAcceptable, minAdvantageBps, leg, limits, quote } = comparison
  const needed = ceilDiv(quote.buyAmountRaw * (bps + BigInt(minAdvantageBps)), bps)
  const net = netRaw(leg, routed)
  if (net < needed) return `it yields ${net} after gas, and ${needed} would be needed to prefer it to the venue`
  // The price impact of a route is not known, so all that it pays less than the feed counts as that.
  const shortfall = shortfallBps(leg.expectedBuyRaw, routed.expectedRaw)
  const allowed = BigInt(limits.priceImpactBps + (isQuoteAcceptable ? limits.slippageBps : 0))
  if (shortfall > allowed) {
    return `it pays ${shortfall} basis points less than the price feed, the limit is ${allowed}`
  }
  const minOut = minOutRaw(comparison)
  if (minOut <= 0n || routed.minRaw < minOut)
    return `it may yield ${routed.minRaw}, the minimum acceptable is ${minOut}`
  return undefined
}

/** The quotes in the order of what they yield after gas, best first. */
export const byYield = <Terms extends SwapTerms>(leg: PlannedLeg, quotes: ReadonlyArray<Terms>): ReadonlyArray<Terms> =>
  quotes.toSorted((a, b) => {
    const difference = netRaw(leg, b) - netRaw(leg, a)
    return difference > 0n ? 1 : difference < 0n ? -1 : 0
  })
