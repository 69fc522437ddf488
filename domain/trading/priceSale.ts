/**
 * A planned leg as one sale or as several: over more than one path where that pays more than its gas, and cut to what
 * its market absorbs in one run where the policy trades in slices. Pure.
 */
import { Result } from "effect"
import { addressOf, type ChainId, chainIdOf } from "#domain/values/Caip.ts"
import type { PlannedLeg } from "#domain/values/PlannedTrades.ts"
import { feedMinOutRaw, priceLeg, type PricingLimits } from "#domain/trading/priceLegs.ts"
import type { Swap } from "#domain/trading/Swap.ts"
import type { LossLimits, Quote, QuoteRequest, SaleLimits, SplitTerms } from "#domain/trading/Venue.ts"
import { dollars, type RecordedSkip, SkipCode } from "#domain/values/Skip.ts"

/** Legs of one batch that may go over several paths, the most valuable first: each path is a swap in the operation. */
const maxSplit = 8
/** A further path adds at least this part of the yield, as a divisor: quotes are not that exact when they are used. */
const minGainParts = 10_000n

/** The swaps of a leg, or why there are none. */
export type SaleVerdict = Result.Result<ReadonlyArray<Swap>, RecordedSkip>

/** The legs of greatest value among those worth `minUsd`. */
export const mostValuable = (legs: ReadonlyArray<PlannedLeg>, count: number, minUsd: bigint): ReadonlySet<PlannedLeg> =>
  new Set(
    legs
      .filter(({ valueUsd }) => valueUsd >= minUsd)
      .toSorted((a, b) => (b.valueUsd > a.valueUsd ? 1 : b.valueUsd < a.valueUsd ? -1 : 0))
      .slice(0, count)
  )

/** What a swap of the leg may lose, or of a part of it. */
const lossLimits = (leg: PlannedLeg, limits: PricingLimits): LossLimits => {
  // A part's share of the minimum is rounded, so the whole keeps one unit more.
  const minRaw = (furtherFeeBps: number) => feedMinOutRaw(leg, limits, furtherFeeBps) + 1n
  return { priceImpactBps: limits.priceImpactBps, minRaw }
}

/** The limits of a leg that may be cut to what its market takes; undefined where legs are made whole. */
const saleLimits = (leg: PlannedLeg, limits: PricingLimits): SaleLimits | undefined => {
  const { slicing } = limits
  if (slicing === undefined) return undefined
  const chainId = chainIdOf(leg.sell)
  return {
    ...lossLimits(leg, limits),
    poolShareBps: slicing.poolShareBps,
    sold: slicing.sold.flatMap(({ buy, raw, sell }) =>
      chainIdOf(sell) === chainId ? [{ sell: addressOf(sell), buy: addressOf(buy), raw }] : []
    )
  }
}

/** Undefined where the gas of a further swap is not known. */
const splitTerms = (chainId: ChainId, leg: PlannedLeg, limits: PricingLimits): SplitTerms | undefined => {
  const gas = limits.swapGas?.find((known) => known.chainId === chainId)
  if (gas === undefined || leg.valueUsd <= 0n) return undefined
  const gasRaw = (gas.usd * leg.expectedBuyRaw) / leg.valueUsd
  return { gainRaw: gasRaw + leg.expectedBuyRaw / minGainParts, within: lossLimits(leg, limits) }
}

/** The requests to the venue for the legs of a chain, in their order. */
export const quoteRequests = (
  chainId: ChainId,
  legs: ReadonlyArray<PlannedLeg>,
  limits: PricingLimits
): ReadonlyArray<QuoteRequest> => {
  const splittable = mostValuable(legs, maxSplit, 0n)
  return legs.map((leg) => {
    const atMost = saleLimits(leg, limits)
    const split = splittable.has(leg) ? splitTerms(chainId, leg, limits) : undefined
    const { buy, sell, sellAmountRaw } = leg
    return {
      sell,
      buy,
      sellAmountRaw,
      ...(atMost === undefined ? {} : { atMost }),
      ...(split === undefined ? {} : { split })
    }
  })
}

/** The leg as far as `sellAmountRaw` of it is sold. */
export const partOf = (leg: PlannedLeg, sellAmountRaw: bigint = leg.sellAmountRaw): PlannedLeg => {
  if (sellAmountRaw === leg.sellAmountRaw) return leg
  const part = (of: bigint) => (of * sellAmountRaw) / leg.sellAmountRaw
  return { ...leg, sellAmountRaw, valueUsd: part(leg.valueUsd), expectedBuyRaw: part(leg.expectedBuyRaw) }
}

/** What is left of a leg of which only `soldRaw` is sold now; undefined where nothing is left. */
export const slicedSkip = (leg: PlannedLeg, soldRaw: bigint, limits: PricingLimits): RecordedSkip | undefined => {
  const { priceImpactBps, slicing } = limits
  if (soldRaw === leg.sellAmountRaw || slicing === undefined) return undefined
  const { valueUsd: takenUsd } = partOf(leg, soldRaw)
  const restUsd = leg.valueUsd - takenUsd
  const usedRaw = slicing.sold.reduce((sum, { raw, sell }) => (sell === leg.sell ? sum + raw : sum), 0n)
  const used = dollars((usedRaw * leg.valueUsd) / leg.sellAmountRaw)
  const least = soldRaw === 0n ? `, and no trade is below ${dollars(slicing.minUsd)}` : ""
  const reason =
    `The market takes ${dollars(takenUsd)} of ${dollars(leg.valueUsd)} now, at the price feed's price within an impact of ` +
    `${priceImpactBps} basis points and within a share of ${slicing.poolShareBps} basis points of a pool in a day` +
    `${least}; ${used} of the asset were sold in the last day. ${dollars(restUsd)} is left to later runs.`
  const { buy, sell } = leg
  return { assetId: null, sell, buy, code: SkipCode.sliced, valueUsd: restUsd, reason }
}

/** The swaps of a leg at its quote, or why there are none. */
export const priceSale = (leg: PlannedLeg, quote: Quote | null, limits: PricingLimits): SaleVerdict => {
  const part = partOf(leg, quote?.sellAmountRaw)
  const isNothing = part !== leg && (part.sellAmountRaw === 0n || part.valueUsd < (limits.slicing?.minUsd ?? 0n))
  const later = isNothing ? slicedSkip(leg, 0n, limits) : undefined
  if (later !== undefined) return Result.fail(later)
  if (quote?.paths === undefined) return Result.map(priceLeg(part, quote, limits), (swap) => [swap])
  return Result.mapError(
    Result.all(quote.paths.map((path) => priceLeg(partOf(leg, path.sellAmountRaw), path, limits))),
    (refused) => ({
      ...refused,
      valueUsd: part.valueUsd,
      reason: `${refused.reason}, of ${dollars(part.valueUsd)} over all paths`
    })
  )
}

/** Whether the leg is sold at the quote; by it the venue keeps refused legs out of later quotes. */
export const isSoldAt =
  (legs: ReadonlyArray<PlannedLeg>, limits: PricingLimits) =>
  (index: number, quote: Quote): boolean =>
    Result.isSuccess(priceSale(legs[index]!, quote, limits))
