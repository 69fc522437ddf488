/** Port: where swaps are made on a chain. */
import { Context, type Effect } from "effect"
import type { AssetId, ChainId, EvmAddress } from "#domain/Caip.ts"
import type { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"

/** One swap to be quoted: sell an exact raw amount of one asset for another on the same chain. */
export interface QuoteRequest {
  readonly sell: AssetId
  readonly buy: AssetId
  readonly sellAmountRaw: bigint
  /** Where the market cannot take the amount within these limits, the greatest that it can take is quoted instead. */
  readonly atMost?: SaleLimits
}

/** What one sale may do to a market. */
export interface SaleLimits {
  readonly priceImpactBps: number
  /** Part of what each pool of the path holds of what is sold into it, in basis points. */
  readonly poolShareBps: number
  /** What counts against that part in the first pool already. */
  readonly soldRaw: bigint
}

/** What the venue pays now. */
export interface Quote {
  /** Raw amount of the bought asset, venue fee deducted. */
  readonly buyAmountRaw: bigint
  /** Token addresses from the sold to the bought one. */
  readonly path: ReadonlyArray<EvmAddress>
  /** How much worse than the price of an infinitely small trade, venue fee left aside, in basis points, rounded up. */
  readonly priceImpactBps: number
  /** What is sold, where that is less than was asked about; above zero. */
  readonly sellAmountRaw?: bigint
}

export class Venue extends Context.Service<
  Venue,
  {
    /**
     * The best quote of each request, at one block and as if made one after the other; null where there is no route.
     * `hubs` are the tokens that a path may pass through. A request whose quote `isMade` refuses is taken not to be
     * made: it leaves no trace in the quotes of those after it. All are made when left out.
     */
    readonly quote: (
      chainId: ChainId,
      hubs: ReadonlyArray<EvmAddress>,
      requests: ReadonlyArray<QuoteRequest>,
      isMade?: (index: number, quote: Quote) => boolean
    ) => Effect.Effect<ReadonlyArray<Quote | null>, ChainUnavailable>
    /** Fee of one hop in basis points. */
    readonly feeBps: number
  }
>()("ballast/domain/trading/Venue") {}
