/**
 * What of the planned trades of a chain can be made as the markets and providers are now: its swaps with minimums, and
 * its transfers with checked routes, cut to what the swaps yield at least.
 */
import { Array, Context, Effect, Layer, Result } from "effect"
import type { ChainAuthorization } from "#domain/account/Authorization.ts"
import type { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import { BestQuotes, type PricingTerms } from "#domain/trading/BestQuotes.ts"
import type { OutgoingTransfer } from "#domain/trading/OutgoingTransfer.ts"
import type { PlannedLeg, PlannedTransfer } from "#domain/values/PlannedTrades.ts"
import type { ReadySwap } from "#domain/trading/Swap.ts"
import { cutBy, makeQuoteTransfer } from "#domain/trading/quoteTransfer.ts"
import type { RecordedSkip } from "#domain/values/Skip.ts"

export interface PlannedTrades {
  readonly legs: ReadonlyArray<PlannedLeg>
  readonly transfers?: ReadonlyArray<PlannedTransfer> | undefined
}

export interface RefusedTransfer {
  readonly planned: PlannedTransfer
  readonly skip: RecordedSkip
}

export interface QuotedTrades {
  readonly swaps: ReadonlyArray<ReadySwap>
  /** Legs without an acceptable quote. */
  readonly skips: ReadonlyArray<RecordedSkip>
  readonly transfers: ReadonlyArray<OutgoingTransfer>
  /** Transfers without an acceptable route, or for which nothing could be sold. */
  readonly refused: ReadonlyArray<RefusedTransfer>
}

/**
 * What of planned trades can be made now.
 *
 * **When to use**
 *
 * Use to quote all trades of a chain together, since its transfers depend on what its swaps yield.
 */
export class ChainQuotes extends Context.Service<
  ChainQuotes,
  {
    /** Reads only. */
    readonly quote: (
      authorization: ChainAuthorization,
      planned: PlannedTrades,
      terms: PricingTerms
    ) => Effect.Effect<QuotedTrades, ChainUnavailable>
  }
>()("ballast/domain/trading/ChainQuotes") {
  static readonly layer = Layer.effect(
    ChainQuotes,
    Effect.gen(function* () {
      const quotes = yield* BestQuotes
      const quoteTransfer = yield* makeQuoteTransfer

      const quote = Effect.fn("ChainQuotes.quote")(function* (
        authorization: ChainAuthorization,
        { legs, transfers: planned = [] }: PlannedTrades,
        terms: PricingTerms
      ) {
        const { skips, swaps } = yield* quotes.price(authorization, legs, terms)
        const answers = yield* Effect.forEach(cutBy(planned, shortOf(planned, legs, swaps)), (transfer) =>
          Effect.map(
            quoteTransfer(authorization, transfer),
            Result.mapError((skip) => ({ planned: transfer, skip }))
          )
        )
        const [transfers, refused] = Array.separate(answers)
        return { swaps, skips, transfers, refused }
      })

      return ChainQuotes.of({ quote })
    })
  ).pipe(Layer.provide(BestQuotes.layer))
}

/** How much less of what is to leave the swaps yield at least than the plan took for granted. */
const shortOf = (
  transfers: ReadonlyArray<PlannedTransfer>,
  legs: ReadonlyArray<PlannedLeg>,
  swaps: ReadonlyArray<ReadySwap>
): bigint => {
  const bridgeAsset = transfers[0]?.sell
  const expected = legs.reduce((sum, { buy, expectedBuyRaw }) => sum + (buy === bridgeAsset ? expectedBuyRaw : 0n), 0n)
  return swaps.reduce((left, { buy, minBuyAmountRaw }) => left - (buy === bridgeAsset ? minBuyAmountRaw : 0n), expected)
}
