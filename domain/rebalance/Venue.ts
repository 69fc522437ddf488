/** Port: where swaps are made on a chain. */
import { Context, type Effect } from "effect"
import type { AssetId, ChainId, EvmAddress } from "#domain/Caip.ts"
import type { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"

/** One swap to be quoted: sell an exact raw amount of one asset for another on the same chain. */
export interface QuoteRequest {
  readonly sell: AssetId
  readonly buy: AssetId
  readonly sellAmountRaw: bigint
}

/** What the venue pays now. */
export interface Quote {
  /** Raw amount of the bought asset, venue fee deducted. */
  readonly buyAmountRaw: bigint
  /** Token addresses from the sold to the bought one. */
  readonly path: ReadonlyArray<EvmAddress>
  /** How much worse than the price of an infinitely small trade, venue fee left aside, in basis points, rounded up. */
  readonly priceImpactBps: number
}

export class Venue extends Context.Service<
  Venue,
  {
    /**
     * The best quote of each request, at one block and as if made one after the other; null where there is no route.
     * `hubs` are the tokens that a path may pass through.
     */
    readonly quote: (
      chainId: ChainId,
      hubs: ReadonlyArray<EvmAddress>,
      requests: ReadonlyArray<QuoteRequest>
    ) => Effect.Effect<ReadonlyArray<Quote | null>, ChainUnavailable>
    /** Fee of one hop in basis points. */
    readonly feeBps: number
  }
>()("ballast/domain/rebalance/Venue") {}
