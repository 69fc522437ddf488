/** Turns planned legs and the venue's quotes into swaps with a floor, and refuses those that the limits forbid. Pure. */
import type { Swap } from "#domain/rebalance/ChainExecution.ts"
import type { PlannedLeg, RecordedSkip } from "#domain/rebalance/RunPlan.ts"
import { SkipCode } from "#domain/rebalance/Skip.ts"
import type { Quote } from "#domain/rebalance/Venue.ts"

export interface PricingLimits {
  readonly slippageBps: number
  readonly priceImpactBps: number
  /** The venue's fee of one hop; the plan counted one. */
  readonly hopFeeBps: number
}

export interface PricedLegs {
  readonly swaps: ReadonlyArray<Swap>
  readonly skips: ReadonlyArray<RecordedSkip>
}

const bps = 10_000n

/** How many basis points `actual` is below `expected`; zero when it is not. */
export const shortfallBps = (expected: bigint, actual: bigint): bigint =>
  actual >= expected ? 0n : ((expected - actual) * bps) / expected

const skip = (leg: PlannedLeg, code: SkipCode, reason: string): RecordedSkip => ({
  assetId: null,
  sell: leg.sell,
  buy: leg.buy,
  code,
  valueUsd: leg.valueUsd,
  reason
})

/**
 * Two guards stand behind each swap: the market may not move by more than `priceImpactBps`, and the quote may not lie
 * further below the price feed than impact, slippage and the fee of further hops explain. The second one refuses a
 * pool that somebody pushed away from the market.
 */
export const priceLeg = (leg: PlannedLeg, quote: Quote | null, limits: PricingLimits): Swap | RecordedSkip => {
  if (quote === null) return skip(leg, SkipCode.noRoute, "No venue quotes this pair")
  if (quote.priceImpactBps > limits.priceImpactBps) {
    return skip(
      leg,
      SkipCode.priceImpact,
      `The swap would move the market by ${quote.priceImpactBps} basis points, the limit is ${limits.priceImpactBps}`
    )
  }
  const furtherHops = Math.max(0, quote.path.length - 2)
  const allowed = BigInt(limits.priceImpactBps + limits.slippageBps + furtherHops * limits.hopFeeBps)
  const shortfall = shortfallBps(leg.expectedBuyRaw, quote.buyAmountRaw)
  if (shortfall > allowed) {
    return skip(
      leg,
      SkipCode.priceImpact,
      `The market pays ${shortfall} basis points less than the price feed, the limit is ${allowed}`
    )
  }
  const minBuyAmountRaw = (quote.buyAmountRaw * (bps - BigInt(limits.slippageBps))) / bps
  if (minBuyAmountRaw <= 0n) return skip(leg, SkipCode.belowMinTrade, "The swap would yield nothing")
  return { sell: leg.sell, buy: leg.buy, sellAmountRaw: leg.sellAmountRaw, minBuyAmountRaw, path: quote.path }
}

/** Prices each leg; `quotes` are in the order of `legs`. */
export const priceLegs = (
  legs: ReadonlyArray<PlannedLeg>,
  quotes: ReadonlyArray<Quote | null>,
  limits: PricingLimits
): PricedLegs => {
  const swaps: Array<Swap> = []
  const skips: Array<RecordedSkip> = []
  for (const [index, leg] of legs.entries()) {
    const priced = priceLeg(leg, quotes[index] ?? null, limits)
    if ("code" in priced) skips.push(priced)
    else swaps.push(priced)
  }
  return { swaps, skips }
}
