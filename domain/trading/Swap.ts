/**
 * A swap on one chain, from the quotes that it was chosen from to what makes it. How it is made is for the adapter of
 * its chain, which alone opens `execution`; what anyone else needs of that is asked here.
 */
import { Schema } from "effect"
import { Address, addressOf, AssetId, namespaceOf } from "#domain/values/Caip.ts"

/** The quotes for a trade when it was decided where to make it; the same for each swap of one trade. */
const ComparedQuotes = Schema.Struct({
  /** What the venue would pay. */
  venueRaw: Schema.BigIntFromString,
  /** The provider's best quote; null when it made none, or got no request. */
  routed: Schema.NullOr(
    Schema.Struct({ tool: Schema.String, expectedRaw: Schema.BigIntFromString, gasUsd: Schema.BigIntFromString })
  ),
  /** Why the other one was not taken. */
  reason: Schema.String
})

/** How a swap is made, by the family of its chain. On Solana its route is chosen when its turn has come. */
const Execution = Schema.Union([
  Schema.TaggedStruct("Evm", {
    /** The venue's path; a routed swap is held against what this path pays. */
    path: Schema.Array(Address),
    /** What goes into each pool of the path; left out where the venue did not say. */
    inputsRaw: Schema.optionalKey(Schema.Array(Schema.BigIntFromString))
  }),
  Schema.TaggedStruct("Solana", {})
])
export type SwapExecution = typeof Execution.Type

/** A swap that will be made, with the minimum amount that it may yield. */
export const Swap = Schema.Struct({
  sell: AssetId,
  buy: AssetId,
  sellAmountRaw: Schema.BigIntFromString,
  minBuyAmountRaw: Schema.BigIntFromString,
  /** What the quote promised when it was chosen; left out where no quote of it is left. */
  expectedBuyRaw: Schema.optionalKey(Schema.BigIntFromString),
  execution: Execution,
  /** What the venue keeps, raw units of what is sold; left out where no quote of it is left, null: it does not say. */
  feeRaw: Schema.optionalKey(Schema.NullOr(Schema.BigIntFromString)),
  /** What results call the venue that makes the swap; left out: `venue`. */
  venue: Schema.optionalKey(Schema.String),
  /** The provider's tool that makes the swap; left out: the venue makes it. */
  tool: Schema.optionalKey(Schema.String),
  /** Left out where nothing was compared, as in liquidations. */
  comparedQuotes: Schema.optionalKey(ComparedQuotes)
})
export type Swap = typeof Swap.Type

type Pair = Pick<Swap, "sell" | "buy">

const directPath = ({ buy, sell }: Pair): ReadonlyArray<Address> => [addressOf(sell), addressOf(buy)]

/** Execution of a swap without a quote: from the one token to the other, as over one pool. */
export const assumedExecution = (pair: Pair): SwapExecution =>
  namespaceOf(pair.sell) === "solana" ? { _tag: "Solana" } : { _tag: "Evm", path: directPath(pair) }

/** What our contract calls the provider's with. */
export interface RouteCall {
  readonly contract: Address
  readonly data: string
}

/** An issuer's contract, which the guard's runner calls with its signed offer. */
export interface IssuerCall {
  readonly venue: Address
  readonly data: string
}

/** Execution with what carries it out. */
export type ReadyExecution =
  | (Extract<SwapExecution, { readonly _tag: "Evm" }> & {
      /** Left out: the venue makes the swap, or an issuer. */
      readonly call?: RouteCall
      /** Left out: no issuer makes the swap. */
      readonly direct?: IssuerCall
    })
  | Extract<SwapExecution, { readonly _tag: "Solana" }>

/** A swap with what carries it out. */
export interface ReadySwap extends Omit<Swap, "execution"> {
  readonly execution: ReadyExecution
}

/**
 * Execution by a provider's route, which is held against what the venue's path pays; what enters its pools is not
 * known.
 */
export const routedExecution = (venue: SwapExecution, call: RouteCall): ReadyExecution => {
  if (venue._tag !== "Evm") throw new Error("A route is a call of a contract, and the venue's swap is one on Solana")
  return { _tag: "Evm", path: venue.path, call }
}

/** Execution by an issuer, whose price needs no pool. */
export const issuerExecution = (pair: Pair, direct: IssuerCall): ReadyExecution => ({
  _tag: "Evm",
  path: directPath(pair),
  direct
})

/** The swap as it is recorded: what carries it out is in the prepared operation, and is not needed again. */
export const recordedSwap = ({ execution, ...swap }: ReadySwap): Swap => {
  if (execution._tag === "Solana") return { ...swap, execution }
  const { call: _, direct: __, ...venue } = execution
  return { ...swap, execution: venue }
}
