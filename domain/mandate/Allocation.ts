/** The target of a portfolio. Source: interface "Strategy", shapes 2.3. */
import type { AssetId } from "#domain/values/Caip.ts"

/** Target weight of one asset, in basis points of the whole portfolio. */
export interface TargetWeight {
  readonly assetId: AssetId
  readonly weight: number
}

/** Target weights that sum to 10,000 basis points; 1 to 50 assets, none twice. */
export type Allocation = ReadonlyArray<TargetWeight>
