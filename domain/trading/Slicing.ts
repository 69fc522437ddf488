/** How much of a trade is made in one run where a market cannot absorb all of it. */
import { Schema } from "effect"
import { AssetId } from "#domain/values/Caip.ts"

export const Slicing = Schema.Struct({
  /** Most of what a pool holds of the sold asset that one portfolio sells into it in a day, in basis points. */
  poolShareBps: Schema.Int,
  /** A slice worth less is not traded, US dollars (wad). */
  minUsd: Schema.BigIntFromString,
  /** What the portfolio has sold in the last day into the venue's pool of two assets. */
  sold: Schema.Array(Schema.Struct({ sell: AssetId, buy: AssetId, raw: Schema.BigIntFromString }))
})
export type Slicing = typeof Slicing.Type
