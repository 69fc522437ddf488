/**
 * That a canonical asset belongs to a category, and how surely. An asset may have several categories in a dimension.
 */
import type { AssetCanonicalId } from "#domain/asset/CanonicalAsset.ts"
import type { Dimension } from "#domain/asset/Dimension.ts"

export interface Classification {
  readonly assetCanonicalId: AssetCanonicalId
  readonly dimension: Dimension
  /** Names the category within its dimension, in kebab-case; stable. */
  readonly key: string
  /** The category for people; may change. */
  readonly label: string
  /**
   * 1 to 10,000 basis points: how well the category describes the asset. Those of one asset need not sum to anything.
   */
  readonly confidence: number
  /** Which of equally confident categories comes first, from 0 up. */
  readonly rank: number
}

/** The order of an asset's categories in one dimension: the most confident first, then by rank, then by key. */
export const byPrecedence = (a: Classification, b: Classification): number =>
  b.confidence - a.confidence || a.rank - b.rank || (a.key < b.key ? -1 : a.key > b.key ? 1 : 0)
