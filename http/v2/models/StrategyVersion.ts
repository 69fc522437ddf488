/** A published version on the wire. Source: shapes 2.10. */
import { Schema } from "effect"
import { Allocation, AllocationDraft } from "#http/v2/models/Allocation.ts"
import { freeText } from "#http/v2/models/freeText.ts"
import { timestamp } from "#http/v2/models/values.ts"

const changeLog = "What has changed since the version before"

export const StrategyVersion = Schema.Struct({
  version: Schema.Int.annotate({ description: "The version's number, from 1 up without gaps.", examples: [2] }),
  allocation: Allocation,
  changeLog: Schema.NullOr(Schema.String).annotate({
    description: `${changeLog}; null when nothing was said.`,
    examples: ["More ether."]
  }),
  isHead: Schema.Boolean.annotate({
    description: "Whether rebalances aim at this version; true for exactly one version of a strategy.",
    examples: [true]
  }),
  createdAt: timestamp("When the version was published")
}).annotate({ identifier: "StrategyVersion", description: "One published target of a strategy; it never changes." })

/** The body of publishing. */
export const VersionDraft = Schema.Struct({
  allocation: AllocationDraft,
  changeLog: Schema.optionalKey(Schema.NullOr(freeText(0, 500, `${changeLog}, at most 500 characters.`, "More ether.")))
}).annotate({ identifier: "VersionDraft", description: "A version to publish. The service numbers it." })
