/** A swap on one chain, from the quotes that it was chosen from to the call that makes it. */
import { Schema } from "effect"
import { AssetId, Address } from "#domain/Caip.ts"

/** The quotes for a trade when it was decided where to make it; the same for each swap of one trade. */
export const ComparedQuotes = Schema.Struct({
  /** What the venue would pay. */
  venueRaw: Schema.BigIntFromString,
  /** The provider's best quote; null when it made none, or got no request. */
  routed: Schema.NullOr(
    Schema.Struct({ tool: Schema.String, expectedRaw: Schema.BigIntFromString, gasUsd: Schema.BigIntFromString })
  ),
  /** Why the other one was not taken. */
  reason: Schema.String
})
export type ComparedQuotes = typeof ComparedQuotes.Type

/** A swap that will be made, with the least amount that it may yield. */
export const Swap = Schema.Struct({
  sell: AssetId,
  buy: AssetId,
  sellAmountRaw: Schema.BigIntFromString,
  minBuyAmountRaw: Schema.BigIntFromString,
  /** What the quote promised when it was chosen; left out by swaps from before it was kept. */
  expectedBuyRaw: Schema.optionalKey(Schema.BigIntFromString),
  /** The venue's path; a routed swap is held against what this path pays. */
  path: Schema.Array(Address),
  /** What goes into each pool of the path; left out where the venue did not say. */
  inputsRaw: Schema.optionalKey(Schema.Array(Schema.BigIntFromString)),
  /** What the venue keeps, raw units of what is sold; null: it does not say. Left out by swaps from before. */
  feeRaw: Schema.optionalKey(Schema.NullOr(Schema.BigIntFromString)),
  /** What results call the venue that makes the swap; left out: `venue`. */
  venue: Schema.optionalKey(Schema.String),
  /** The provider's tool that makes the swap; left out: the venue makes it. */
  tool: Schema.optionalKey(Schema.String),
  /**
   * Left out where nothing was compared: liquidations, and swaps from before there were routes. Stored as `offers`.
   */
  comparedQuotes: Schema.optionalKey(ComparedQuotes)
}).pipe(Schema.encodeKeys({ comparedQuotes: "offers" }))
export type Swap = typeof Swap.Type

/** A swap with what carries it out. */
export interface ReadySwap extends Swap {
  /** What our contract calls the provider's with; left out: the venue makes the swap. */
  readonly call?: { readonly contract: Address; readonly data: string }
  /** An issuer's contract, which the guard's runner calls with its signed offer; left out: no issuer makes the swap. */
  readonly direct?: { readonly venue: Address; readonly data: string }
}
