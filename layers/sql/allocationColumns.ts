/** The columns in which a strategy's targets and swap preferences are stored, read by more than one store. */
import { Schema } from "effect"
import { AssetId } from "#domain/Caip.ts"
import * as Decimal from "#domain/Decimal.ts"
import { fromText } from "#domain/fromText.ts"
import type { Allocation, SwapPreferences } from "#domain/strategy/Strategy.ts"
import { storableJson } from "#layers/sql/storable.ts"

/** Target weights as JSON: `[{assetId, weight}]`, weights in basis points. */
export const AllocationColumn = Schema.Array(Schema.Struct({ assetId: AssetId, weight: Schema.Int }))

/** Writes an allocation as a parameter for `::jsonb`. */
export const encodeAllocation = (allocation: Allocation): string =>
  storableJson(allocation.map(({ assetId, weight }) => ({ assetId, weight })))

const Wad = fromText(Schema.BigInt, {
  expected: "a numeric column with 18 decimal places",
  example: "5.000000000000000000",
  parse: Decimal.parse,
  format: (value) => Decimal.format(value, 18)
})

/** Fields of a row that carries swap preferences. */
export const SwapPreferencesColumns = {
  slippageBps: Schema.NullOr(Schema.Int),
  priceImpactBps: Schema.NullOr(Schema.Int),
  thresholdUsd: Schema.NullOr(Wad)
}

/** The swap preferences of a row. */
export const swapPreferencesOf = ({ slippageBps, priceImpactBps, thresholdUsd }: SwapPreferences): SwapPreferences => ({
  slippageBps,
  priceImpactBps,
  thresholdUsd
})
