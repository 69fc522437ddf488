/** How swaps are made, on the wire: as it is answered, and as it is sent. Source: shapes 2.3, 2.4, 2.9 and 2.12. */
import { Schema } from "effect"
import { UsdFromString } from "#domain/values/Decimal.ts"
import { RebalancePolicy } from "#domain/mandate/RebalancePolicy.ts"
import { written } from "#http/values/values.ts"

const slippage = "How far below its quote a swap may be made, in basis points (0 to 1000)"
const impact = "How far a swap may move the market against itself, in basis points (0 to 1000)"
const threshold = "Trades below this value in US dollars are not made"

export const SwapPreferences = Schema.Struct({
  slippageBps: Schema.NullOr(Schema.Int).annotate({ description: `${slippage}; null: not set.`, examples: [50] }),
  priceImpactBps: Schema.NullOr(Schema.Int).annotate({ description: `${impact}; null: not set.`, examples: [100] }),
  thresholdUsd: Schema.NullOr(written(`${threshold}.`, /^[0-9]{1,12}\.[0-9]{2,6}$/u, "5.00")).annotate({
    description: `${threshold}; null: not set.`,
    examples: ["5.00"]
  })
}).annotate({
  identifier: "SwapPreferences",
  description: "How swaps are made. What the strategy does not set has the tenant's default, then the service's."
})

/**
 * Preferences as terms of mirroring have them: a policy needs no consent (docs/decisions/0140-rebalance-policies.md).
 */
export const MirroredPreferences = Schema.Struct({ swap: SwapPreferences }).annotate({
  identifier: "MirroredPreferences",
  description: "Swap preferences of a strategy that another tenant mirrors."
})

export const Preferences = Schema.Struct({
  swap: SwapPreferences,
  rebalancePolicy: Schema.optionalKey(RebalancePolicy)
}).annotate({
  identifier: "Preferences",
  description: "Preferences of a strategy; without `rebalancePolicy` every deviation of the threshold is traded."
})

/** A policy to set as a whole, or null to clear it. */
export const policyField = Schema.optionalKey(
  Schema.NullOr(RebalancePolicy).annotate({
    description: "Replaces the policy as a whole; null clears it.",
    examples: [{ band: { kind: "auto" } }]
  })
)

const bps = Schema.NullOr(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1000 })))

/** Every field may be left out or null. */
export const swapFields = {
  slippageBps: Schema.optionalKey(bps.annotate({ description: `${slippage}; null: not set.`, examples: [50] })),
  priceImpactBps: Schema.optionalKey(bps.annotate({ description: `${impact}; null: not set.`, examples: [100] })),
  thresholdUsd: Schema.optionalKey(
    Schema.NullOr(UsdFromString).annotate({ description: `${threshold}; null: not set.` })
  )
}

export const SwapPatch = Schema.Struct(swapFields).annotate({
  identifier: "SwapPatch",
  description: "Sets the fields that it has, clears those that are null, and keeps the others."
})

export const PreferencesPatch = Schema.Struct({
  swap: Schema.optionalKey(SwapPatch),
  rebalancePolicy: policyField
}).annotate({
  identifier: "PreferencesPatch",
  description: "A merge patch (RFC 7396) of each field of `swap`, and of `rebalancePolicy` as a whole."
})
