/** Target weights as v2 shows them. Source: shapes 2.3. */
import type { Allocation } from "#domain/Allocation.ts"
import * as Weight from "#domain/Weight.ts"

export const allocationView = (allocation: Allocation) => ({
  assets: allocation.map(({ assetId, weight }) => ({ assetId, weight: Weight.format(weight) }))
})
