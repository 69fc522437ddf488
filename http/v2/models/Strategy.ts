/** A strategy on the wire. Source: interface "Strategy", shapes 2.3 and 2.4. */
import { Schema } from "effect"
import { AssetId } from "#domain/Caip.ts"
import { UsdFromString } from "#domain/Decimal.ts"
import { Frequency } from "#domain/RebalanceSchedule.ts"
import { maxAssets } from "#domain/strategy/allocationRules.ts"
import { WeightFromString } from "#domain/Weight.ts"
import { freeText } from "#http/v2/models/freeText.ts"
import { AssetIdText, StrategyIdText, timestamp } from "#http/v2/models/values.ts"

const Schedule = Schema.Struct({
  type: Schema.Literal("interval").annotate({ description: "The only kind of schedule." }),
  frequency: Frequency.annotate({ description: "How often portfolios are rebalanced.", examples: ["daily"] })
}).annotate({ identifier: "RebalanceSchedule", description: "When the strategy's portfolios are rebalanced." })

const bps = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1000 }))

const slippage = "How far below its quote a swap may settle, in basis points; null: no override."
const impact = "How far a swap may move the market against itself, in basis points; null: no override."
const threshold = "Trades below this value in US dollars are not made; null: no override."

const allocationDescription = `Target weights: 1 to ${maxAssets} assets, none twice, weights that sum to 100.`

const SwapPreferences = Schema.Struct({
  slippageBps: Schema.NullOr(Schema.Int).annotate({ description: slippage, examples: [50] }),
  priceImpactBps: Schema.NullOr(Schema.Int).annotate({ description: impact, examples: [100] }),
  thresholdUsd: Schema.NullOr(Schema.String).annotate({ description: threshold, examples: ["5.00"] })
}).annotate({
  identifier: "SwapPreferences",
  description: "Overrides of how swaps are made; null means that a default applies."
})

export const Strategy = Schema.Struct({
  strategyId: StrategyIdText,
  name: Schema.String.annotate({ description: "Name of the strategy.", examples: ["Blue chips"] }),
  description: Schema.NullOr(Schema.String).annotate({
    description: "What the strategy is for.",
    examples: ["Half ether, half dollars."]
  }),
  allocation: Schema.Struct({
    assets: Schema.Array(
      Schema.Struct({
        assetId: AssetIdText,
        weight: Schema.String.annotate({ description: "Percent with 2 decimals.", examples: ["100.00"] })
      })
    )
  }).annotate({ identifier: "Allocation", description: allocationDescription }),
  schedule: Schedule,
  preferences: Schema.Struct({ swap: SwapPreferences }),
  isPublic: Schema.Boolean.annotate({
    description: "Other tenants may read the strategy and enroll into it.",
    examples: [false]
  }),
  version: Schema.Int.annotate({ description: "The head version, from 1 up.", examples: [1] }),
  createdAt: timestamp("When the strategy was created")
}).annotate({
  identifier: "Strategy",
  description: "A reusable template: target weights, a schedule and swap preferences."
})

/** The body of create and validate. */
export const StrategyDraft = Schema.Struct({
  name: freeText(1, 256, "Name of the strategy, 1 to 256 characters.", "Blue chips"),
  description: Schema.optionalKey(
    Schema.NullOr(freeText(0, 2000, "What the strategy is for, at most 2000 characters.", "Half ether, half dollars."))
  ),
  allocation: Schema.Struct({
    assets: Schema.Array(Schema.Struct({ assetId: AssetId, weight: WeightFromString })).check(
      Schema.isBetweenLength(1, maxAssets, { expected: `1 to ${maxAssets} assets` })
    )
  }).annotate({ identifier: "AllocationDraft", description: allocationDescription }),
  schedule: Schedule,
  preferences: Schema.optionalKey(
    Schema.Struct({
      swap: Schema.optionalKey(
        Schema.Struct({
          slippageBps: Schema.optionalKey(Schema.NullOr(bps).annotate({ description: slippage, examples: [50] })),
          priceImpactBps: Schema.optionalKey(Schema.NullOr(bps).annotate({ description: impact, examples: [100] })),
          thresholdUsd: Schema.optionalKey(Schema.NullOr(UsdFromString).annotate({ description: threshold }))
        })
      )
    }).annotate({
      identifier: "PreferencesDraft",
      description: "Overrides of how swaps are made; what is left out stays null."
    })
  ),
  isPublic: Schema.optionalKey(Schema.Boolean.annotate({ description: "False when left out.", examples: [false] }))
}).annotate({ identifier: "StrategyDraft", description: "A strategy to create." })
