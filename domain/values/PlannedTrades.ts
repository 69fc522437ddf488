/** The trades of a plan before they have quotes: swaps on a chain, and transfers to other chains. */
import { Schema } from "effect"
import { AssetId } from "#domain/values/Caip.ts"

export const PlannedLeg = Schema.Struct({
  sell: AssetId,
  buy: AssetId,
  /** Raw units, above zero and at most the balance, also for all legs together that sell one asset. */
  sellAmountRaw: Schema.BigIntFromString,
  /** Value of what is sold, US dollars (wad). */
  valueUsd: Schema.BigIntFromString,
  /** What it yields at the feed's prices after the venue's fee, above zero. */
  expectedBuyRaw: Schema.BigIntFromString
})
export type PlannedLeg = typeof PlannedLeg.Type

export const PlannedTransfer = Schema.Struct({
  sell: AssetId,
  buy: AssetId,
  /** Raw units, above zero; all transfers of a chain together take at most what its legs leave of what has arrived. */
  amountRaw: Schema.BigIntFromString,
  /** Value of what leaves, US dollars (wad). */
  valueUsd: Schema.BigIntFromString,
  /** What arrives at the feed's prices after the usual cost, above zero. */
  expectedRaw: Schema.BigIntFromString
})
export type PlannedTransfer = typeof PlannedTransfer.Type
