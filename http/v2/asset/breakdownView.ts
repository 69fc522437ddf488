/** A breakdown as v2 shows it: weights as decimal strings with their zeros trimmed. Source: shapes F to I. */
import type {
  Breakdown,
  BreakdownHolding,
  Bucket,
  DimensionBreakdown,
  MultiCategoryMode
} from "#domain/breakdown/Breakdown.ts"
import * as HoldingWeight from "#domain/breakdown/HoldingWeight.ts"
import * as Decimal from "#domain/values/Decimal.ts"

const aggregationMode = { primary: "single", apportioned: "apportioned", overlap: "overlap" } as const

const formatConfidence = (basisPoints: number): string =>
  HoldingWeight.format((BigInt(basisPoints) * Decimal.one) / 10_000n)

const identityView = ({ assetCanonicalId, caipAssetId, inputIndex, symbol }: BreakdownHolding) => ({
  inputIndex,
  assetCanonicalId,
  caipAssetId,
  symbol
})

const bucketView = ({ absoluteWeight, contributions, key, label, weight }: Bucket) => ({
  key,
  label,
  weight: HoldingWeight.format(weight),
  absoluteWeight: HoldingWeight.format(absoluteWeight),
  holdingCount: contributions.length,
  holdings: contributions.map((part) => ({
    ...identityView(part.holding),
    name: part.holding.name,
    weight: HoldingWeight.format(part.weight),
    confidence: formatConfidence(part.confidence)
  }))
})

const dimensionView = (mode: MultiCategoryMode) => (breakdown: DimensionBreakdown) => ({
  dimension: breakdown.dimension,
  aggregationMode: aggregationMode[mode],
  totalWeight: HoldingWeight.format(breakdown.totalWeight),
  absoluteTotalWeight: HoldingWeight.format(breakdown.absoluteTotalWeight),
  totalMayExceedOne: mode === "overlap",
  buckets: breakdown.buckets.map(bucketView)
})

export const breakdownView = ({ diagnostics, dimensions, holdings, mode, sourceTotal }: Breakdown) => ({
  normalization: {
    inputMode: "weights" as const,
    normalizedTotal: HoldingWeight.format(Decimal.one),
    sourceTotal: HoldingWeight.format(sourceTotal)
  },
  holdings: holdings.map((holding) => ({
    ...identityView(holding),
    name: holding.name,
    normalizedWeight: HoldingWeight.format(holding.normalizedWeight),
    sourceValue: HoldingWeight.format(holding.sourceValue)
  })),
  breakdowns: dimensions.map(dimensionView(mode)),
  diagnostics: {
    unresolved: diagnostics.unresolved.map(({ holding, reason }) => ({ ...identityView(holding), reason })),
    unsupported: diagnostics.unsupported.map(({ dimension, holding, reason }) => ({
      ...identityView(holding),
      dimension,
      reason
    })),
    unclassified: diagnostics.unclassified.map(({ dimension, holding, reason }) => ({
      ...identityView(holding),
      dimension,
      reason
    })),
    lowConfidence: diagnostics.lowConfidence.map(({ confidence, dimension, holding, reason }) => ({
      ...identityView(holding),
      dimension,
      reason,
      confidence: formatConfidence(confidence)
    }))
  }
})
