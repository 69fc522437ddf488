/** A tenant's defaults on the wire. Source: shapes 2.12 and T. */
import { Schema } from "effect"
import { RebalancePolicy } from "#domain/RebalancePolicy.ts"
import { RebalanceSchedule } from "#http/v2/strategy/RebalanceScheduleModel.ts"
import { policyField, SwapPatch, SwapPreferences } from "#http/v2/strategy/SwapPreferencesModel.ts"

export const TenantPreferences = Schema.Struct({
  swap: SwapPreferences,
  schedule: Schema.NullOr(RebalanceSchedule).annotate({
    description: "The schedule of strategies that are created without one; null: not set.",
    examples: [{ type: "interval", frequency: "daily" }]
  }),
  rebalancePolicy: Schema.optionalKey(RebalancePolicy)
}).annotate({ identifier: "TenantPreferences", description: "Defaults for what the tenant's strategies leave open." })

export const TenantPreferencesPatch = Schema.Struct({
  swap: Schema.optionalKey(SwapPatch),
  schedule: Schema.optionalKey(
    Schema.NullOr(RebalanceSchedule).annotate({
      description: "Replaces the default schedule; null clears it. Strategies that exist keep theirs.",
      examples: [{ type: "interval", frequency: "daily" }]
    })
  ),
  rebalancePolicy: policyField
}).annotate({
  identifier: "TenantPreferencesPatch",
  description: "A merge patch (RFC 7396) of each field of `swap`, and of `schedule` and `rebalancePolicy` as a whole."
})
