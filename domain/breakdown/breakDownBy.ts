/** One dimension of a breakdown, from holdings whose assets and categories are known. Source: docs/decisions/0013. */
import type { AssetKind } from "#domain/asset/CanonicalAsset.ts"
import { byPrecedence, type Classification } from "#domain/asset/Classification.ts"
import { appliesTo, type Dimension } from "#domain/asset/Dimension.ts"
import { apportion } from "#domain/breakdown/apportion.ts"
import type {
  BreakdownHolding,
  Bucket,
  Contribution,
  Diagnostics,
  DimensionBreakdown,
  MultiCategoryMode
} from "#domain/breakdown/Breakdown.ts"

/** A holding of a known asset, with its categories in one dimension in any order. */
export interface KnownHolding {
  readonly holding: BreakdownHolding
  readonly kind: AssetKind
  readonly classifications: ReadonlyArray<Classification>
}

/** Even confidence: a category below it is as likely wrong as right. */
const lowConfidence = 5_000

const magnitude = (value: bigint): bigint => (value < 0n ? -value : value)

/** How much of a holding goes to each of its categories, which come most confident first. */
const shares: Readonly<
  Record<
    MultiCategoryMode,
    (weight: bigint, categories: ReadonlyArray<Classification>) => ReadonlyArray<readonly [Classification, bigint]>
  >
> = {
  primary: (weight, categories) => categories.slice(0, 1).map((category) => [category, weight] as const),
  apportioned: (weight, categories) => {
    const parts = apportion(
      magnitude(weight),
      categories.map(({ confidence }) => BigInt(confidence))
    )
    return categories.map((category, index) => [category, weight < 0n ? -parts[index]! : parts[index]!] as const)
  },
  overlap: (weight, categories) => categories.map((category) => [category, weight] as const)
}

const sum = <Item>(items: ReadonlyArray<Item>, of: (item: Item) => bigint): bigint =>
  items.reduce((total, item) => total + of(item), 0n)

const largestFirst = (a: Bucket, b: Bucket): number =>
  a.absoluteWeight === b.absoluteWeight ? (a.key < b.key ? -1 : 1) : a.absoluteWeight > b.absoluteWeight ? -1 : 1

/** Builds the buckets of a dimension, and lists holdings that are in none of them or only doubtfully. */
export const breakDownBy = (
  dimension: Dimension,
  mode: MultiCategoryMode,
  known: ReadonlyArray<KnownHolding>
): DimensionBreakdown & Omit<Diagnostics, "unresolved"> => {
  const contributions = new Map<string, { readonly label: string; readonly parts: Array<Contribution> }>()
  const unsupported: Array<Diagnostics["unsupported"][number]> = []
  const unclassified: Array<Diagnostics["unclassified"][number]> = []
  const doubtful: Array<Diagnostics["lowConfidence"][number]> = []

  for (const { classifications, holding, kind } of known) {
    if (!appliesTo(dimension, kind)) {
      unsupported.push({ holding, dimension, reason: `${dimension} does not apply to an asset of kind ${kind}` })
      continue
    }
    if (classifications.length === 0) {
      unclassified.push({ holding, dimension, reason: `no category in ${dimension} is known for this asset` })
      continue
    }
    const categories = classifications.toSorted(byPrecedence)
    for (const [{ confidence, key, label }, weight] of shares[mode](holding.normalizedWeight, categories)) {
      const bucket = contributions.get(key) ?? { label, parts: [] }
      bucket.parts.push({ holding, weight, confidence })
      contributions.set(key, bucket)
      if (confidence < lowConfidence) {
        const reason = `${dimension} ${key} describes this asset with low confidence`
        doubtful.push({ holding, dimension, confidence, reason })
      }
    }
  }

  const buckets = [...contributions]
    .map(([key, { label, parts }]): Bucket => ({
      key,
      label,
      weight: sum(parts, ({ weight }) => weight),
      absoluteWeight: sum(parts, ({ weight }) => magnitude(weight)),
      contributions: parts
    }))
    .sort(largestFirst)

  return {
    dimension,
    buckets,
    totalWeight: sum(buckets, ({ weight }) => weight),
    absoluteTotalWeight: sum(buckets, ({ absoluteWeight }) => absoluteWeight),
    unsupported,
    unclassified,
    lowConfidence: doubtful
  }
}
