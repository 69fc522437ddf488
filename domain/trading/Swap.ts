/**
 * A swap on one chain, from the quotes that it was chosen from to what makes it. How it is made is for the adapter of
 * its chain, which alone opens `execution`; what anyone else needs of that is asked here.
 */
import { Schema, SchemaTransformation } from "effect"
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

const pools = {
  /** The venue's path; a routed swap is held against what this path pays. */
  path: Schema.Array(Address),
  /** What goes into each pool of the path; left out where the venue did not say. */
  inputsRaw: Schema.optionalKey(Schema.Array(Schema.BigIntFromString))
}

/** How a swap is made, by the family of its chain. On Solana its route is chosen when its turn has come. */
const Execution = Schema.toType(Schema.Union([Schema.TaggedStruct("Evm", pools), Schema.TaggedStruct("Solana", {})]))
export type SwapExecution = typeof Execution.Type

const amounts = {
  sell: AssetId,
  buy: AssetId,
  sellAmountRaw: Schema.BigIntFromString,
  minBuyAmountRaw: Schema.BigIntFromString,
  /** What the quote promised when it was chosen; left out by swaps from before it was kept. */
  expectedBuyRaw: Schema.optionalKey(Schema.BigIntFromString)
}

const maker = {
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
}

/** As it is stored, on chains of every family: the pools are keys of the swap itself. Its family is that of `sell`. */
const Stored = Schema.Struct({ ...amounts, ...pools, ...maker }).pipe(Schema.encodeKeys({ comparedQuotes: "offers" }))

const Made = Schema.toType(Schema.Struct({ ...amounts, execution: Execution, ...maker }))

type Pair = Pick<typeof Made.Type, "sell" | "buy">
type Pools = Pick<typeof Stored.Type, "path" | "inputsRaw">

const directPath = ({ buy, sell }: Pair): Pools["path"] => [addressOf(sell), addressOf(buy)]

const executionOf = ({ sell }: Pair, stored: Pools): SwapExecution =>
  namespaceOf(sell) === "solana" ? { _tag: "Solana" } : { _tag: "Evm", ...stored }

/** On Solana as over one pool of both tokens, which sums of what was sold count by. */
const poolsOf = (pair: Pair, execution: SwapExecution): Pools => {
  if (execution._tag === "Solana") return { path: directPath(pair) }
  const { inputsRaw, path } = execution
  return inputsRaw === undefined ? { path } : { path, inputsRaw }
}

/** Of a swap without a quote: from the one token to the other, as over one pool. */
export const assumedExecution = (pair: Pair): SwapExecution => executionOf(pair, { path: directPath(pair) })

/** A swap that will be made, with the least amount that it may yield. */
export const Swap = Stored.pipe(
  Schema.decodeTo(
    Made,
    SchemaTransformation.transform({
      decode: ({ inputsRaw, path, ...swap }: typeof Stored.Type): typeof Made.Type => ({
        ...swap,
        execution: executionOf(swap, inputsRaw === undefined ? { path } : { path, inputsRaw })
      }),
      encode: ({ execution, ...swap }: typeof Made.Type): typeof Stored.Type => ({
        ...swap,
        ...poolsOf(swap, execution)
      })
    })
  )
)
export type Swap = typeof Swap.Type

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

/** The same with what carries it out. */
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

/** By a provider's route, which is held against what the venue's path pays; what enters its pools is not known. */
export const routedExecution = (venue: SwapExecution, call: RouteCall): ReadyExecution => {
  if (venue._tag !== "Evm") throw new Error("A route is a call of a contract, and the venue's swap is one on Solana")
  return { _tag: "Evm", path: venue.path, call }
}

/** By an issuer, whose price needs no pool. */
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

/** Pools that a swap went through where it is not kept what they took; of a route that nobody knows before, one. */
export const poolCount = ({ execution }: Swap): number => (execution._tag === "Evm" ? execution.path.length - 1 : 1)
