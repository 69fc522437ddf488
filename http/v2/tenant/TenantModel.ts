/** A tenant's defaults on the wire. Source: shapes 2.12 and T. */
import { Schema } from "effect"
import { OwnerAction } from "#domain/mandate/OwnerAction.ts"
import { RebalancePolicy } from "#domain/mandate/RebalancePolicy.ts"
import { lossBps } from "#http/v2/enrollment/EnrollmentModel.ts"
import { RebalanceSchedule } from "#domain/mandate/RebalanceSchedule.ts"
import { written } from "#http/values/values.ts"
import { policyField, SwapPatch, SwapPreferences } from "#http/v2/strategy/SwapPreferencesModel.ts"

const TenantTerms = Schema.Struct({
  maxTradeLossBps: Schema.optionalKey(lossBps("Most that one trade may lose against reference prices.")),
  maxWeeklyLossBps: Schema.optionalKey(lossBps("Most that all trades of seven days may lose, of the account."))
}).annotate({
  identifier: "TenantPermissionTerms",
  description:
    "The widest terms that owners of the tenant's portfolios are to sign, tighter than the trade guard's own. They hold for signatures from then on, also where a request has wider ones; only the owner's next signature widens what was signed.",
  examples: [{ maxTradeLossBps: 150, maxWeeklyLossBps: 100 }]
})

/** Origin as browsers send it: the default port left out. Source: RFC 6454. */
const Origin = written(
  "The origin of a page: scheme, host and port.",
  /^https?:\/\/[a-z0-9.-]{1,253}(:[0-9]{1,5})?$/u,
  "https://app.example.com"
)

const Origins = Schema.Array(Origin)
  .check(Schema.isMinLength(1), Schema.isMaxLength(20))
  .annotate({
    description:
      "Pages of these origins may call the API with keys of the tenant (CORS). It holds on every process within ten seconds. A key in a page is everybody's: give it scopes that only read.",
    examples: [["https://app.example.com"]]
  })

const OwnerActions = Schema.Array(OwnerAction)
  .check(Schema.isMinLength(1), Schema.isUnique())
  .annotate({
    description:
      "What owners may do with their portfolios by signing in with their wallets (`v2.portfolios.start`, `.stop`, `.rebalance`). Left out: owners read theirs, and the tenant does the rest. Members of the tenant act by their role.",
    examples: [["start", "stop"]]
  })

export const TenantPreferences = Schema.Struct({
  swap: SwapPreferences,
  schedule: Schema.NullOr(RebalanceSchedule).annotate({
    description: "The schedule of strategies that are created without one; null: not set.",
    examples: [{ type: "interval", frequency: "daily" }]
  }),
  rebalancePolicy: Schema.optionalKey(RebalancePolicy),
  permissionTerms: Schema.optionalKey(TenantTerms),
  origins: Schema.optionalKey(Origins),
  ownerActions: Schema.optionalKey(OwnerActions)
}).annotate({ identifier: "TenantPreferences", description: "Defaults for what the tenant's strategies leave open." })

export const TenantPreferencesPatch = Schema.Struct({
  swap: Schema.optionalKey(SwapPatch),
  schedule: Schema.optionalKey(
    Schema.NullOr(RebalanceSchedule).annotate({
      description: "Replaces the default schedule; null clears it. Strategies that exist keep theirs.",
      examples: [{ type: "interval", frequency: "daily" }]
    })
  ),
  rebalancePolicy: policyField,
  permissionTerms: Schema.optionalKey(
    Schema.NullOr(TenantTerms).annotate({
      description: "Replaces the tenant's terms; null clears them.",
      examples: [{ maxTradeLossBps: 150, maxWeeklyLossBps: 100 }]
    })
  ),
  origins: Schema.optionalKey(
    Schema.NullOr(Origins).annotate({
      description: "Replaces the origins of the tenant's pages; null clears them.",
      examples: [["https://app.example.com"]]
    })
  ),
  ownerActions: Schema.optionalKey(
    Schema.NullOr(OwnerActions).annotate({
      description: "Replaces what owners may do by themselves; null: nothing.",
      examples: [["start", "stop"]]
    })
  )
}).annotate({
  identifier: "TenantPreferencesPatch",
  description:
    "A merge patch (RFC 7396) of each field of `swap`, and of `schedule`, `rebalancePolicy`, `permissionTerms`, `origins` and `ownerActions` as a whole."
})
