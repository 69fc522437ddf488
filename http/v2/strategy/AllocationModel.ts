/**
 * Target weights on the wire: as they are answered, and as they are sent. Source: interface "Strategy", shapes 2.3 and
 * 2.4.
 */
import { Schema } from "effect"
import { AssetId } from "#domain/values/Caip.ts"
import { maxAllocationAssets } from "#domain/strategy/allocationRules.ts"
import { WeightFromString } from "#domain/values/Weight.ts"
import { AssetIdText, written } from "#http/values/values.ts"

const description = `Target weights: 1 to ${maxAllocationAssets} assets, none twice, weights that sum to 100.`

export const Allocation = Schema.Struct({
  assets: Schema.Array(
    Schema.Struct({
      assetId: AssetIdText,
      weight: written("Percent with 2 decimals.", /^[0-9]{1,3}\.[0-9]{2}$/u, "100.00")
    })
  )
}).annotate({ identifier: "Allocation", description })

export const AllocationDraft = Schema.Struct({
  assets: Schema.Array(Schema.Struct({ assetId: AssetId, weight: WeightFromString })).check(
    Schema.isBetweenLength(1, maxAllocationAssets, { expected: `1 to ${maxAllocationAssets} assets` })
  )
}).annotate({ identifier: "AllocationDraft", description })
