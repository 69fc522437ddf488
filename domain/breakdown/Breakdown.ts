/**
 * Holdings broken down into categories, dimension by dimension. All weights are wad (18 decimals).
 * Source: interface "POST /v2/assets/allocation-breakdown", shapes E to I, docs/decisions/0013.
 */
import { Schema } from "effect"
import type { AssetCanonicalId } from "#domain/asset/CanonicalAsset.ts"
import type { Dimension } from "#domain/asset/Dimension.ts"
import type { AssetId } from "#domain/values/Caip.ts"

/** Most holdings of one request. */
export const maxHoldings = 200

/**
 * What happens to a holding with several categories in a dimension. `primary`: all of it goes to the most confident.
 * `apportioned`: it is split in proportion to the confidences. `overlap`: all of it goes to each.
 */
export const MultiCategoryMode = Schema.Literals(["primary", "apportioned", "overlap"])
export type MultiCategoryMode = typeof MultiCategoryMode.Type

/** A holding in a request, by exactly one of the two ids. */
export type HoldingSubject =
  | { readonly assetCanonicalId: AssetCanonicalId; readonly caipAssetId: null }
  | { readonly assetCanonicalId: null; readonly caipAssetId: AssetId }

export type HoldingInput = HoldingSubject & {
  /** The caller's name of the asset; shown when the catalogue does not list it. */
  readonly symbol: string | null
  /** Share in a unit that all holdings have in common; negative for a short holding. */
  readonly weight: bigint
}

export interface BreakdownRequest {
  readonly dimensions: ReadonlyArray<Dimension>
  readonly mode: MultiCategoryMode
  readonly holdings: ReadonlyArray<HoldingInput>
}

export interface BreakdownHolding {
  readonly inputIndex: number
  readonly assetCanonicalId: AssetCanonicalId | null
  readonly caipAssetId: AssetId | null
  readonly symbol: string | null
  readonly name: string | null
  /** Share of the sum of all absolute weights; the absolute values sum to exactly one. */
  readonly normalizedWeight: bigint
  /** The weight as it came. */
  readonly sourceValue: bigint
}

/** What one holding adds to a bucket. */
export interface Contribution {
  readonly holding: BreakdownHolding
  readonly weight: bigint
  /** Basis points. */
  readonly confidence: number
}

export interface Bucket {
  readonly key: string
  readonly label: string
  /** Sum of the contributions. */
  readonly weight: bigint
  /** Sum of their absolute values. */
  readonly absoluteWeight: bigint
  readonly contributions: ReadonlyArray<Contribution>
}

export interface DimensionBreakdown {
  readonly dimension: Dimension
  /** Largest absolute weight first, then by key. */
  readonly buckets: ReadonlyArray<Bucket>
  /** Sum over the buckets: what has no category in the dimension is not in it. */
  readonly totalWeight: bigint
  readonly absoluteTotalWeight: bigint
}

interface Diagnosis {
  readonly holding: BreakdownHolding
  readonly reason: string
}

export interface Diagnostics {
  /** The id is not in the catalogue; the holding is in no bucket. */
  readonly unresolved: ReadonlyArray<Diagnosis>
  /** The dimension does not classify assets of this kind. */
  readonly unsupported: ReadonlyArray<Diagnosis & { readonly dimension: Dimension }>
  /** The dimension classifies such assets, and this one has no category yet. */
  readonly unclassified: ReadonlyArray<Diagnosis & { readonly dimension: Dimension }>
  /** The holding is in a bucket to which it belongs with less than even confidence (basis points). */
  readonly lowConfidence: ReadonlyArray<Diagnosis & { readonly dimension: Dimension; readonly confidence: number }>
}

export interface Breakdown {
  readonly mode: MultiCategoryMode
  /** Sum of all absolute weights as they came: what each was divided by. */
  readonly sourceTotal: bigint
  readonly holdings: ReadonlyArray<BreakdownHolding>
  readonly dimensions: ReadonlyArray<DimensionBreakdown>
  readonly diagnostics: Diagnostics
}
