/** Target weights as v2 shows them. Source: shapes 2.3. */
import type { Allocation } from "#domain/mandate/Allocation.ts"
import * as Weight from "#domain/values/Weight.ts"

export const allocationView = (allocation: Allocation) => ({
  assets: allocation.map(({ assetId, weight }) => ({ assetId, weight: Weight.format(weight) }))
})
