/** A strategy on the wire. Source: interface "Strategy", shapes 2.3, 2.4 and 2.6. */
import { Schema } from "effect"
import { Allocation, AllocationDraft } from "#http/v2/strategy/AllocationModel.ts"
import { StrategyTriggers } from "#domain/mandate/StrategyTriggers.ts"
import { labels, labelsDraft, labelsPatch } from "#http/values/labels.ts"
import { RebalancePolicy } from "#domain/mandate/RebalancePolicy.ts"
import { freeText, nameText } from "#http/values/freeText.ts"
import { RebalanceSchedule } from "#domain/mandate/RebalanceSchedule.ts"
import { Preferences, swapFields } from "#http/v2/strategy/SwapPreferencesModel.ts"
import { prose, StrategyIdText, timestamp, written } from "#http/values/values.ts"

export const Strategy = Schema.Struct({
  strategyId: StrategyIdText,
  name: prose("Name of the strategy.", 512, "Blue chips"),
  description: Schema.NullOr(prose("What the strategy is for.", 4_000, "Half ether, half dollars.")).annotate({
    description: "What the strategy is for.",
    examples: ["Half ether, half dollars."]
  }),
  maxApy: Schema.optionalKey(
    written(
      "The most that the creator advertises, percent a year with 2 decimals; absent when not advertised.",
      /^[0-9]+\.[0-9]{2}$/u,
      "10.00"
    )
  ),
  allocation: Allocation,
  schedule: RebalanceSchedule,
  preferences: Preferences,
  triggers: Schema.optionalKey(StrategyTriggers),
  isPublic: Schema.Boolean.annotate({
    description: "Other tenants may read the strategy and enroll into it.",
    examples: [false]
  }),
  version: Schema.Int.annotate({ description: "The head version, from 1 up.", examples: [1] }),
  createdAt: timestamp("Time of the strategy's creation"),
  archivedAt: Schema.optionalKey(
    timestamp(
      "Time since which it takes no further enrollments; absent: it is not archived",
      "2026-03-20T09:30:00.000Z"
    )
  ),
  ...labels
}).annotate({
  identifier: "Strategy",
  description: "A reusable template: target weights, a schedule and swap preferences."
})

const name = nameText(256, "Name of the strategy, 1 to 256 characters.", "Blue chips")
const description = Schema.NullOr(
  freeText(
    { minimum: 0, maximum: 2000 },
    "What the strategy is for, at most 2000 characters.",
    "Half ether, half dollars."
  )
)

/** The body of create and validate. */
export const StrategyDraft = Schema.Struct({
  name,
  description: Schema.optionalKey(description),
  allocation: AllocationDraft,
  schedule: Schema.optionalKey(RebalanceSchedule),
  preferences: Schema.optionalKey(
    Schema.Struct({
      swap: Schema.optionalKey(Schema.Struct(swapFields)),
      rebalancePolicy: Schema.optionalKey(RebalancePolicy)
    }).annotate({
      identifier: "PreferencesDraft",
      description: "Overrides of how swaps are made, null where left out; and when drift is worth a trade."
    })
  ),
  triggers: Schema.optionalKey(StrategyTriggers),
  isPublic: Schema.optionalKey(Schema.Boolean.annotate({ description: "False when left out.", examples: [false] })),
  ...labelsDraft
}).annotate({
  identifier: "StrategyDraft",
  description: "A strategy to create. Without `schedule` it gets the tenant's default, which must then be set."
})

/** The body of the update. */
export const StrategyPatch = Schema.Struct({
  name: Schema.optionalKey(name),
  description: Schema.optionalKey(description),
  isPublic: Schema.optionalKey(
    Schema.Boolean.annotate({
      description: "Whether other tenants may read the strategy and enroll into it; portfolios that exist stay.",
      examples: [true]
    })
  ),
  triggers: Schema.optionalKey(
    Schema.NullOr(StrategyTriggers).annotate({
      description: "Replaces the triggers as a whole; null clears them.",
      examples: [{ drift: { band: { kind: "absolute", width: 500 } } }]
    })
  ),
  ...labelsPatch
}).annotate({
  identifier: "StrategyPatch",
  description:
    "A merge patch (RFC 7396): what is left out stays; `null` clears the description, the triggers, the external id, the metadata or one key of it."
})
