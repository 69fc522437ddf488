/** The trades of a plan before they have quotes: swaps on a chain, and transfers to other chains. */
import { Schema } from "effect"
import { AssetId } from "#domain/Caip.ts"

export const PlannedLeg = Schema.Struct({
  sell: AssetId,
  buy: AssetId,
  sellAmountRaw: Schema.BigIntFromString,
  /** US dollars (wad). */
  valueUsd: Schema.BigIntFromString,
  /** What it yields at the feed's prices after the venue's fee. */
  expectedBuyRaw: Schema.BigIntFromString
})
export type PlannedLeg = typeof PlannedLeg.Type

export const PlannedTransfer = Schema.Struct({
  sell: AssetId,
  buy: AssetId,
  amountRaw: Schema.BigIntFromString,
  /** US dollars (wad). */
  valueUsd: Schema.BigIntFromString,
  /** What it yields at the feed's prices after the usual cost. */
  expectedRaw: Schema.BigIntFromString
})
export type PlannedTransfer = typeof PlannedTransfer.Type
