/** Port: where swaps are made on a chain. */
import { Context, type Effect } from "effect"
import type { AssetId, ChainId, Address } from "#domain/values/Caip.ts"
import type { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import type { SwapExecution } from "#domain/trading/Swap.ts"

/** One swap to be quoted: sell an exact raw amount of one asset for another on the same chain. */
export interface QuoteRequest {
  readonly sell: AssetId
  readonly buy: AssetId
  readonly sellAmountRaw: bigint
  /** Where the market cannot take the amount within these limits, the greatest that it can take is quoted instead. */
  readonly atMost?: SaleLimits
  /** The amount may be split over several paths; one path alone when left out. */
  readonly split?: SplitTerms
}

/** What one swap may lose. */
export interface LossLimits {
  readonly priceImpactBps: number
  /** Minimum yield of the whole amount at a quote with this `furtherFeeBps`; less of it yields as much less. */
  readonly minRaw: (furtherFeeBps: number) => bigint
}

/** What one sale may do to a market. */
export interface SaleLimits extends LossLimits {
  /** Part of what each pool holds of what is sold into it, in basis points. */
  readonly poolShareBps: number
  /** What counts against that part already: raw units sold into the pool of two tokens. */
  readonly sold: ReadonlyArray<{ readonly sell: Address; readonly buy: Address; readonly raw: bigint }>
}

/** Terms on which one sale is made over several paths. */
export interface SplitTerms {
  /** What each further path must add at least, in raw units of what is bought: it costs gas. */
  readonly gainRaw: bigint
  /** Limits of the swap over each path. */
  readonly within: LossLimits
}

/** Who makes a sale, and what that takes of it. */
export interface VenueTerms {
  /** What results call it; `venue` when left out. */
  readonly venue?: string
  /** Raw units of what is sold; null where the venue does not say. */
  readonly feeRaw: bigint | null
  /** Basis points that it keeps beyond what plans count (`assumedFeeBps`): limits on loss allow for them. */
  readonly furtherFeeBps: number
}

/** What is sold over one path. */
export interface QuotedPath extends VenueTerms {
  readonly execution: SwapExecution
  readonly sellAmountRaw: bigint
  /** Raw amount of the bought asset, venue fee deducted. */
  readonly buyAmountRaw: bigint
  readonly priceImpactBps: number
}

/** What the venue pays now. */
export interface Quote extends VenueTerms {
  /** Raw amount of the bought asset, venue fee deducted. */
  readonly buyAmountRaw: bigint
  /** How the swap is made, or of several paths that of the one that takes most. */
  readonly execution: SwapExecution
  /**
   * How much worse than the price of an infinitely small trade, venue fee left aside, in basis points, rounded up; of
   * several paths the greatest.
   */
  readonly priceImpactBps: number
  /** What is sold, where that is less than requested; zero where the market absorbs nothing within the limits. */
  readonly sellAmountRaw?: bigint
  /** The paths, where there is more than one; their amounts are those of the quote in sum. */
  readonly paths?: ReadonlyArray<QuotedPath>
}

/** Sales of one operation. */
export interface QuoteBatch {
  readonly chainId: ChainId
  /** The tokens that a path may pass through. */
  readonly connectorTokens: ReadonlyArray<Address>
  readonly requests: ReadonlyArray<QuoteRequest>
  /** The first block that quotes may be of; the latest of any node that follows its chain, when left out. */
  readonly notBefore?: bigint | undefined
  /**
   * A request whose quote it refuses is taken not to be made: it leaves no trace in the quotes of those after it. All
   * are made when left out.
   */
  readonly isMade?: ((index: number, quote: Quote) => boolean) | undefined
}

/**
 * Where swaps are made on a chain.
 *
 * **When to use**
 *
 * Use to quote several swaps of one chain as they would be made, one after the other. Routes of a provider are compared
 * with it by `BestQuotes`.
 *
 * **Details**
 *
 * Amounts are raw units, with the venue's fee deducted. Quotes are not binding: minimums are set from them by
 * `priceLegs`.
 *
 * **Example** (A venue without a market)
 *
 * ```ts
 * import { Effect, Layer } from "effect"
 * import { Venue } from "#domain/trading/Venue.ts"
 *
 * const NoMarket = Layer.mock(Venue, {
 *   assumedFeeBps: () => 30,
 *   quote: () => Effect.succeed([])
 * })
 * ```
 */
export class Venue extends Context.Service<
  Venue,
  {
    /**
     * The best quote of each request, at one block and as if made one after the other; null where there is no route.
     */
    readonly quote: (batch: QuoteBatch) => Effect.Effect<ReadonlyArray<Quote | null>, ChainUnavailable>
    /**
     * What plans and limits on loss take the fee of a swap on the chain to be before it has a quote, in basis points of
     * what is sold; 0 to 9,999. What a venue really keeps is in its quotes.
     */
    readonly assumedFeeBps: (chainId: ChainId) => number
  }
>()("ballast/domain/trading/Venue") {}
