/**
 * Turns planned legs and the venue's quotes into swaps with a minimum amount out, and refuses those that the limits
 * forbid. Pure.
 */
import { Array, Result } from "effect"
import type { Slicing } from "#domain/trading/Slicing.ts"
import type { ChainId } from "#domain/values/Caip.ts"
import type { Swap } from "#domain/trading/Swap.ts"
import type { PlannedLeg } from "#domain/values/PlannedTrades.ts"
import type { RecordedSkip } from "#domain/values/Skip.ts"
import { dollars, SkipCode } from "#domain/values/Skip.ts"
import type { Quote } from "#domain/trading/Venue.ts"

export interface PricingLimits {
  readonly slippageBps: number
  readonly priceImpactBps: number
  /** Left out: a trade is made whole or not at all. */
  readonly slicing?: Slicing
  /** What the gas of one more swap costs, where that is known: there a leg may be split over several paths. */
  readonly swapGas?: ReadonlyArray<{ readonly chainId: ChainId; readonly usd: bigint }>
}

export interface PricedLegs {
  readonly swaps: ReadonlyArray<Swap>
  readonly skips: ReadonlyArray<RecordedSkip>
}

const bps = 10_000n

/** How many basis points `actual` is below `expected`; zero when it is not. */
export const shortfallBps = (expected: bigint, actual: bigint): bigint =>
  actual >= expected ? 0n : ((expected - actual) * bps) / expected

const refuse = (leg: PlannedLeg, code: SkipCode, reason: string): Result.Result<never, RecordedSkip> =>
  Result.fail({
    assetId: null,
    sell: leg.sell,
    buy: leg.buy,
    code,
    valueUsd: leg.valueUsd,
    reason: `${reason}; ${dollars(leg.valueUsd)} are not traded`
  })

/** Rounded up: of a token of few decimals a unit less may be a third of it. */
const part = (raw: bigint, ofBps: bigint): bigint => (raw * ofBps + bps - 1n) / bps

/** The yield at the feed's prices, less impact, slippage, and what the venue keeps beyond the plan's fee; raw units. */
export const feedMinOutRaw = (
  { expectedBuyRaw }: Pick<PlannedLeg, "expectedBuyRaw">,
  { priceImpactBps, slippageBps }: Pick<PricingLimits, "priceImpactBps" | "slippageBps">,
  furtherFeeBps = 0
): bigint => {
  const lost = BigInt(priceImpactBps + slippageBps + furtherFeeBps)
  return lost >= bps ? 0n : part(expectedBuyRaw, bps - lost)
}

/**
 * The one limit on loss: a swap yields at least its quote less slippage, and at least its yield at the feed's prices
 * less impact less slippage. Whichever is more holds, so the two never add up.
 */
export const swapMinOutRaw = (leg: PlannedLeg, quote: Quote, limits: PricingLimits): bigint => {
  const fromQuote = part(quote.buyAmountRaw, bps - BigInt(limits.slippageBps))
  const fromFeed = feedMinOutRaw(leg, limits, quote.furtherFeeBps)
  return fromQuote > fromFeed ? fromQuote : fromFeed
}

/** One unit is missing, and a unit is worth more than a swap may lose: the token is coarse, the market is not off. */
const isUnitShort = ({ expectedBuyRaw }: PlannedLeg, { buyAmountRaw }: Quote, limits: PricingLimits): boolean =>
  buyAmountRaw + 1n === expectedBuyRaw && expectedBuyRaw * BigInt(limits.priceImpactBps + limits.slippageBps) < bps

/**
 * A swap may not move its market by more than `priceImpactBps`, and its quote may not be below its minimum. The second
 * refuses a pool that was pushed away from the market.
 */
export const priceLeg = (
  leg: PlannedLeg,
  quote: Quote | null,
  limits: PricingLimits
): Result.Result<Swap, RecordedSkip> => {
  if (quote === null) return refuse(leg, SkipCode.noRoute, "No venue quotes this pair")
  if (quote.priceImpactBps > limits.priceImpactBps) {
    return refuse(
      leg,
      SkipCode.priceImpact,
      `The swap would move the market by ${quote.priceImpactBps} basis points, the limit is ${limits.priceImpactBps}`
    )
  }
  const minBuyAmountRaw = swapMinOutRaw(leg, quote, limits)
  if (quote.buyAmountRaw < minBuyAmountRaw && isUnitShort(leg, quote, limits)) {
    return refuse(
      leg,
      SkipCode.belowMinTrade,
      `The market gives ${quote.buyAmountRaw} of the ${leg.expectedBuyRaw} units due, and a unit of what is bought is worth ${dollars(leg.valueUsd / leg.expectedBuyRaw)}, more than a swap may lose`
    )
  }
  if (quote.buyAmountRaw < minBuyAmountRaw) {
    const shortfall = shortfallBps(leg.expectedBuyRaw, quote.buyAmountRaw)
    const allowed = shortfallBps(leg.expectedBuyRaw, minBuyAmountRaw)
    return refuse(
      leg,
      SkipCode.priceImpact,
      `The market pays ${shortfall} basis points less than the price feed, the limit is ${allowed}`
    )
  }
  if (minBuyAmountRaw <= 0n) return refuse(leg, SkipCode.belowMinTrade, "The swap would yield nothing")
  const { buy, sell, sellAmountRaw } = leg
  const { buyAmountRaw: expectedBuyRaw, execution, feeRaw, venue } = quote
  return Result.succeed({
    sell,
    buy,
    sellAmountRaw,
    minBuyAmountRaw,
    expectedBuyRaw,
    execution,
    feeRaw,
    ...(venue === undefined ? {} : { venue })
  })
}

/** Whether the leg is made at the quote; by it the venue keeps refused legs out of later quotes. */
export const isMadeAt =
  (legs: ReadonlyArray<PlannedLeg>, limits: PricingLimits) =>
  (index: number, quote: Quote): boolean =>
    Result.isSuccess(priceLeg(legs[index]!, quote, limits))

/** Prices each leg; `quotes` are in the order of `legs`. */
export const priceLegs = (
  legs: ReadonlyArray<PlannedLeg>,
  quotes: ReadonlyArray<Quote | null>,
  limits: PricingLimits
): PricedLegs => {
  const [swaps, skips] = Array.partition(legs, (leg, index) => priceLeg(leg, quotes[index] ?? null, limits))
  return { swaps, skips }
}
