/**
 * Prices legs at whatever pays best after fees: the venue, or a route of the provider where the owner allowed our
 * contract for it. The venue always quotes; the provider only improves on it, so a provider that is down, slow, dear
 * or false changes nothing but the price.
 */
import { Array, Context, Effect, Layer, Result } from "effect"
import type { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import type { ChainAuthorization } from "#domain/account/Authorization.ts"
import { connectorTokensOf, routedSwapOf } from "#domain/account/Permission.ts"
import { type ReadySwap, routedExecution } from "#domain/trading/Swap.ts"
import type { PricingLimits } from "#domain/trading/priceLegs.ts"
import { isSoldAt, mostValuable, partOf, priceSale, quoteRequests, slicedSkip } from "#domain/trading/priceSale.ts"
import type { PlannedLeg } from "#domain/values/PlannedTrades.ts"
import type { RecordedSkip } from "#domain/values/Skip.ts"
import { type Quote, Venue } from "#domain/trading/Venue.ts"
import { byYield, type Comparison, quoteFault } from "#domain/trading/compareQuotes.ts"
import { Routing, type RouteQuote, type SwapRequest, type SwapTerms } from "#domain/trading/Routing.ts"
import { RouteSettings } from "#domain/trading/RoutingSettings.ts"

/** Legs of one batch that the provider is to quote, the most valuable first: its requests are limited. */
const maxQuoted = 4
/** Quotes of one leg that are made a transaction of, until one passes. */
const maxTried = 2

export interface BestPrices {
  readonly swaps: ReadonlyArray<ReadySwap>
  readonly skips: ReadonlyArray<RecordedSkip>
}

/** How legs are priced. */
export interface PricingTerms {
  /** The portfolio's own limits. */
  readonly limits: PricingLimits
  /** False: on the venue alone. */
  readonly routed: boolean
  /** The block of the balances that the legs were made from; left out where there is none. */
  readonly notBefore?: bigint | undefined
}

/**
 * Swaps at whatever pays best.
 *
 * **When to use**
 *
 * Use to price the legs of a plan or an owner's swap. The venue alone is `Venue`.
 */
export class BestQuotes extends Context.Service<
  BestQuotes,
  {
    /** The legs as swaps with a minimum amount out, or as skips. */
    readonly price: (
      authorization: ChainAuthorization,
      legs: ReadonlyArray<PlannedLeg>,
      terms: PricingTerms
    ) => Effect.Effect<BestPrices, ChainUnavailable>
  }
>()("ballast/domain/trading/BestQuotes") {
  static readonly layer = Layer.effect(
    BestQuotes,
    Effect.gen(function* () {
      const venue = yield* Venue
      const routing = yield* Routing
      const { minAdvantageBps, minUsd } = yield* RouteSettings

      /** The first of the quotes that is worth it, still so and right as a transaction; else why none is. */
      const firstGood = Effect.fnUntraced(function* (
        comparison: Comparison,
        request: SwapRequest,
        routes: ReadonlyArray<RouteQuote>
      ) {
        const [best] = routes
        let fault = (best && quoteFault(comparison, best)) ?? "the provider has no route"
        const worthy = routes.filter((route) => quoteFault(comparison, route) === undefined)
        for (const route of worthy.slice(0, maxTried)) {
          const call = yield* Effect.result(routing.swapCall(request, route))
          if (Result.isFailure(call)) {
            fault = call.failure.reason
            if (call.failure._tag === "RoutingUnavailable") return Result.fail(fault)
          } else {
            const stale = quoteFault(comparison, call.success)
            if (stale === undefined) return Result.succeed(call.success)
            fault = stale
          }
        }
        return Result.fail(fault)
      })

      /** The leg over a route where that is better; else the venue's verdict, with the reason. */
      const improve = Effect.fnUntraced(function* (comparison: Comparison, verdict: Verdict, request: SwapRequest) {
        const { leg, quote } = comparison
        const answer = yield* Effect.result(routing.swapQuotes(request))
        if (Result.isFailure(answer)) return compared(verdict, quote, { routed: null, reason: answer.failure.reason })
        const routes = byYield(leg, answer.success)
        const found = yield* firstGood(comparison, request, routes)
        if (Result.isFailure(found))
          return compared(verdict, quote, { routed: routes[0] ?? null, reason: found.failure })
        const { data, expectedRaw, minRaw, tool } = found.success
        const swap: ReadySwap = {
          sell: leg.sell,
          buy: leg.buy,
          sellAmountRaw: leg.sellAmountRaw,
          minBuyAmountRaw: minRaw,
          expectedBuyRaw: expectedRaw,
          execution: routedExecution(quote.execution, { contract: request.taker, data }),
          tool
        }
        return compared(Result.succeed([swap]), quote, { routed: found.success, reason: "the route yields more" })
      })

      const price = Effect.fnUntraced(function* (
        chain: ChainAuthorization,
        legs: ReadonlyArray<PlannedLeg>,
        { limits, notBefore, routed }: PricingTerms
      ) {
        if (legs.length === 0) return { swaps: [], skips: [] }
        const requests = quoteRequests(chain.chainId, legs, limits)
        const quotes = yield* venue.quote({
          chainId: chain.chainId,
          connectorTokens: connectorTokensOf(chain),
          requests,
          notBefore,
          isMade: isSoldAt(legs, limits)
        })
        const contract = routed ? routedSwapOf(chain) : undefined
        const toQuote = contract === undefined ? new Set<PlannedLeg>() : mostValuable(legs, maxQuoted, minUsd)
        const verdicts = yield* Effect.forEach(
          legs,
          (whole, index): Effect.Effect<Verdict> => {
            const quote = quotes[index] ?? null
            const verdict = priceSale(whole, quote, limits)
            // Without a price of the venue there is none that the contract could hold a route against.
            if (contract === undefined || quote === null || !toQuote.has(whole)) return Effect.succeed(verdict)
            // A route is to make what the venue would; all of it, where the venue takes nothing now.
            const leg = quote.sellAmountRaw === 0n ? whole : partOf(whole, quote.sellAmountRaw)
            const isQuoteAcceptable = Result.isSuccess(verdict)
            const { slippageBps } = limits
            const { buy, sell, sellAmountRaw: amountRaw } = leg
            return improve({ leg, quote, isQuoteAcceptable, limits, minAdvantageBps }, verdict, {
              sell,
              buy,
              amountRaw,
              taker: contract,
              slippageBps
            })
          },
          { concurrency: maxQuoted }
        )
        return {
          swaps: Array.getSuccesses(verdicts).flat(),
          skips: verdicts.flatMap((verdict, index) =>
            Result.match(verdict, {
              onFailure: (refused) => [refused],
              onSuccess: (swaps) => slicedSkip(legs[index]!, soldOf(swaps), limits) ?? []
            })
          )
        }
      })

      return BestQuotes.of({ price })
    })
  )
}

type Verdict = Result.Result<ReadonlyArray<ReadySwap>, RecordedSkip>

const soldOf = (swaps: ReadonlyArray<ReadySwap>): bigint =>
  swaps.reduce((sum, { sellAmountRaw }) => sum + sellAmountRaw, 0n)

/** The verdict with the quotes; a skip has the reason why no route replaced the venue. */
const compared = (
  verdict: Verdict,
  quote: Quote,
  { reason, routed }: { readonly routed: SwapTerms | null; readonly reason: string }
): Verdict => {
  const terms = routed === null ? null : { tool: routed.tool, expectedRaw: routed.expectedRaw, gasUsd: routed.gasUsd }
  const comparedQuotes = { venueRaw: quote.buyAmountRaw, routed: terms, reason }
  return Result.mapBoth(verdict, {
    onFailure: (refused) => ({ ...refused, reason: `${refused.reason}; over a route: ${reason}` }),
    onSuccess: (swaps) => swaps.map((swap) => ({ ...swap, comparedQuotes }))
  })
}
