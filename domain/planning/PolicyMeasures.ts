/** The figures by which a policy was followed on one chain, as a run's record keeps them. */
import { Schema } from "effect"
import { AssetId } from "#domain/values/Caip.ts"

const Usd = Schema.BigIntFromString

export const PolicyMeasures = Schema.Struct({
  /**
   * What the trades remove of the cost of drift, what they cost and how much of that is gas; US dollars (wad). Null: no
   * trades.
   */
  worth: Schema.NullOr(
    Schema.Struct({
      benefitUsd: Usd,
      costUsd: Usd,
      gasUsd: Usd,
      /** What gas costs was not known: it is in none of the figures. */
      isGasUnknown: Schema.optionalKey(Schema.Boolean)
    })
  ),
  bands: Schema.Array(
    Schema.Struct({
      assetId: AssetId,
      /** How far the asset may be from its target, and how far from it it is traded to; billionths of the portfolio. */
      half: Schema.BigIntFromString,
      goal: Schema.BigIntFromString,
      /** What buying it costs, slippage reserve included, in billionths. */
      cost: Schema.BigIntFromString,
      /** Standard deviation of a year's return (wad). */
      volatility: Schema.BigIntFromString
    })
  )
})
export type PolicyMeasures = typeof PolicyMeasures.Type
