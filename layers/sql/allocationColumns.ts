/** The columns in which a strategy's targets and swap preferences are stored, read by more than one store. */
import { Schema } from "effect"
import * as Decimal from "#domain/Decimal.ts"
import { fromText } from "#domain/fromText.ts"
import type { Allocation, SwapPreferences } from "#domain/strategy/Strategy.ts"
import { storableJson } from "#layers/sql/storable.ts"

/**
 * An asset id that a store has written, so in its canonical spelling: the form is enough. Hashing every address of a page
 * again for its checksum would cost ten times the query.
 */
const StoredAssetId = Schema.String.check(Schema.isPattern(/^eip155:[1-9][0-9]{0,15}\/erc20:0x[0-9a-fA-F]{40}$/u)).pipe(
  Schema.brand("AssetId")
)

/** Target weights as JSON: `[{assetId, weight}]`, weights in basis points. */
export const AllocationColumn = Schema.Array(Schema.Struct({ assetId: StoredAssetId, weight: Schema.Int }))

/** Writes an allocation as a parameter for `::jsonb`. */
export const encodeAllocation = (allocation: Allocation): string =>
  storableJson(allocation.map(({ assetId, weight }) => ({ assetId, weight })))

/** A `numeric(48, 18)` column, or any numeric one, as wad. */
export const Wad = fromText(Schema.BigInt, {
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
