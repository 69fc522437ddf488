/**
 * A breakdown of holdings on the wire. Source: interface "POST /v2/assets/allocation-breakdown", shapes E to
 * I.
 */
import { Schema } from "effect"
import { AssetCanonicalId } from "#domain/asset/CanonicalAsset.ts"
import { Dimension, dimensions } from "#domain/asset/Dimension.ts"
import { maxHoldings, MultiCategoryMode } from "#domain/breakdown/Breakdown.ts"
import { HoldingWeightFromString } from "#domain/breakdown/HoldingWeight.ts"
import { AssetId, patterns } from "#domain/values/Caip.ts"
import { freeText } from "#http/values/freeText.ts"
import { AssetIdText, prose, written } from "#http/values/values.ts"

const canonicalExample = "bcdeaefd-258f-4614-bcd6-8c5eea3d5720"
const splExample = "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp/spl:EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"
const caipExample = "eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"

/** An id that the answer may lack is null, so a request may send null for it too. */
const optional = <S extends Schema.Top>(schema: S, description: string) =>
  Schema.optionalKey(Schema.NullOr(schema).annotate({ description }))

const Holding = Schema.Struct({
  assetCanonicalId: Schema.optionalKey(
    // The example is of a holding named by its token, and a holding has only one of the two.
    Schema.NullOr(AssetCanonicalId).annotate({
      description: "UUID of the canonical asset. Either this or `caipAssetId`, not both.",
      examples: [null]
    })
  ),
  caipAssetId: optional(
    AssetId,
    "CAIP-19 of a token, ERC-20 or SPL; it is resolved to its canonical asset. Either this or `assetCanonicalId`, not both."
  ),
  symbol: optional(
    freeText({ minimum: 1, maximum: 40 }, "What you call the asset.", "USDC"),
    "What you call the asset; shown where the catalogue does not know it."
  ),
  weight: HoldingWeightFromString
})
  .annotate({ description: "One holding, named by exactly one of the two ids, and its weight." })
  .check(
    Schema.makeFilter(
      ({ assetCanonicalId = null, caipAssetId = null }) => (assetCanonicalId === null) !== (caipAssetId === null),
      { expected: "exactly one of assetCanonicalId and caipAssetId" }
    )
  )
  .annotate({ identifier: "BreakdownHoldingInput" })

export const BreakdownRequest = Schema.Struct({
  dimensions: Schema.optionalKey(
    Schema.Array(Dimension)
      .check(
        Schema.isBetweenLength(1, dimensions.length, { expected: `1 to ${dimensions.length} dimensions` }),
        Schema.isUnique({ expected: "dimensions without duplicates" })
      )
      .annotate({
        description:
          "The dimensions to break down by, in the order of the answer, none twice. All seven when left out.",
        examples: [["cryptoCategory"]]
      })
  ),
  multiCategoryMode: Schema.optionalKey(
    MultiCategoryMode.annotate({
      description:
        "What happens to a holding with several categories in a dimension. `primary`, the default: all of it goes to the most confident. `apportioned`: it is split in proportion to the confidences. `overlap`: all of it goes to each.",
      examples: ["primary"]
    })
  ),
  holdings: Schema.Array(Holding)
    .check(Schema.isBetweenLength(1, maxHoldings, { expected: `1 to ${maxHoldings} holdings` }))
    .annotate({
      description: `1 to ${maxHoldings} holdings whose weights are in one unit of your choice: fractions, percentages or values. An asset may be named more than once. A weight below zero is a short holding; not all may be zero.`
    })
}).annotate({ identifier: "BreakdownRequest", description: "Holdings to break down." })
export type BreakdownRequest = typeof BreakdownRequest.Type

const decimal = (description: string, example: string) =>
  written(`${description} Decimal string, zeros trimmed.`, /^-?(0|[1-9][0-9]*)(\.[0-9]*[1-9])?$/u, example)

const identity = {
  inputIndex: Schema.Int.annotate({ description: "Index of the holding in the request, from 0 up.", examples: [0] }),
  assetCanonicalId: Schema.NullOr(
    written("UUID in lower case.", /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/u, canonicalExample)
  ).annotate({
    description: "UUID of the canonical asset; null when the token is not known.",
    examples: [canonicalExample]
  }),
  caipAssetId: Schema.NullOr(
    Schema.Union([AssetIdText, written("CAIP-19 of an SPL token.", patterns.splAsset, splExample)])
  ).annotate({
    description: "CAIP-19 of the token in its canonical spelling; null when the request named the canonical asset.",
    examples: [caipExample]
  }),
  symbol: Schema.NullOr(Schema.String).annotate({
    description:
      "Symbol of the token on its chain or of the canonical asset; of the request when neither is known, and null without one there.",
    examples: ["USDC"]
  })
}

const named = {
  ...identity,
  name: Schema.NullOr(Schema.String).annotate({
    description: "Name of the canonical asset; null when it is not known.",
    examples: ["USD Coin"]
  })
}

const dimension = Dimension.annotate({ description: "The dimension.", examples: ["cryptoCategory"] })

const BucketHolding = Schema.Struct({
  ...named,
  weight: decimal("What the holding adds to the bucket, a fraction of the whole.", "1"),
  confidence: Schema.NullOr(decimal("A fraction.", "0.99")).annotate({
    description: "How well the category describes the asset, a fraction above 0 and at most 1; null when not rated.",
    examples: ["0.99"]
  })
}).annotate({ identifier: "BreakdownBucketHolding", description: "A holding's part of a bucket." })

const Bucket = Schema.Struct({
  key: written("Stable name of the category.", /^[A-Za-z0-9_-]{1,100}$/u, "dollar-stablecoins"),
  label: prose("The category for people.", 200, "Dollar stablecoins"),
  weight: decimal("Sum of the parts, a fraction of the whole.", "1"),
  absoluteWeight: decimal("Sum of the parts' absolute values.", "1"),
  holdingCount: Schema.Int.annotate({ description: "How many holdings have a part.", examples: [1] }),
  holdings: Schema.Array(BucketHolding).annotate({ description: "The parts, in the order of the request." })
}).annotate({ identifier: "BreakdownBucket", description: "One category and what falls into it." })

const reason = (example: string) => prose("What is the matter, for people.", 500, example)

const Diagnostics = Schema.Struct({
  unresolved: Schema.Array(
    Schema.Struct({ ...identity, reason: reason("no asset is known for this caipAssetId") }).annotate({
      identifier: "BreakdownUnresolved",
      description: "A holding whose asset is not known."
    })
  ).annotate({ description: "Holdings of assets that are not known; they are in no bucket.", examples: [[]] }),
  unsupported: Schema.Array(
    Schema.Struct({
      ...identity,
      dimension,
      reason: reason("sector does not apply to an asset of kind stablecoin")
    }).annotate({
      identifier: "BreakdownUnsupported",
      description: "A holding of a kind that the dimension does not cover."
    })
  ).annotate({
    description: "Holdings of a kind that belongs to no value of a dimension, such as a stablecoin in `sector`.",
    examples: [[]]
  }),
  unclassified: Schema.Array(
    Schema.Struct({
      ...identity,
      dimension,
      reason: reason("no category in sector is known for this asset")
    }).annotate({
      identifier: "BreakdownUnclassified",
      description: "A holding without a category where it could have one."
    })
  ).annotate({ description: "Holdings that could have a category in a dimension and have none.", examples: [[]] }),
  lowConfidence: Schema.Array(
    Schema.Struct({
      ...identity,
      dimension,
      reason: reason("sector technology describes this asset with low confidence"),
      confidence: decimal("Confidence of the category, below 0.5.", "0.45")
    }).annotate({
      identifier: "BreakdownLowConfidence",
      description: "A holding in a bucket whose confidence is below 0.5."
    })
  ).annotate({ description: "Parts of buckets whose confidence is below 0.5.", examples: [[]] })
}).annotate({
  identifier: "BreakdownDiagnostics",
  description: "What is missing from the buckets or doubtful in them."
})

export const Breakdown = Schema.Struct({
  normalization: Schema.Struct({
    inputMode: Schema.Literal("weights").annotate({ description: "What the numbers in the request mean." }),
    normalizedTotal: decimal("Sum of the absolute normalized weights: always 1.", "1"),
    sourceTotal: decimal("Sum of the absolute weights as they came: what each was divided by.", "0.6")
  }).annotate({ identifier: "BreakdownNormalization", description: "How weights became fractions." }),
  holdings: Schema.Array(
    Schema.Struct({
      ...named,
      normalizedWeight: decimal("`sourceValue` divided by `sourceTotal`, to 18 decimals.", "1"),
      sourceValue: decimal("The weight of the request.", "0.6")
    }).annotate({
      identifier: "BreakdownHolding",
      description: "A holding of the request with its share of the whole."
    })
  ).annotate({ description: "Every holding, in the order of the request." }),
  breakdowns: Schema.Array(
    Schema.Struct({
      dimension,
      aggregationMode: Schema.Literals(["single", "apportioned", "overlap"]).annotate({
        description: "`single` for `primary`; the others as requested.",
        examples: ["single"]
      }),
      totalWeight: decimal("Sum over the buckets. What has no category in the dimension is missing from it.", "1"),
      absoluteTotalWeight: decimal("Sum of the buckets' absolute weights.", "1"),
      totalMayExceedOne: Schema.Boolean.annotate({
        description: "True for `overlap`, which counts a holding once in each of its categories.",
        examples: [false]
      }),
      buckets: Schema.Array(Bucket).annotate({ description: "Largest absolute weight first." })
    }).annotate({ identifier: "DimensionBreakdown", description: "The holdings by the categories of one dimension." })
  ).annotate({ description: "One for each dimension, in the order of the request." }),
  diagnostics: Diagnostics
}).annotate({ identifier: "Breakdown", description: "Holdings by category in every requested dimension." })
