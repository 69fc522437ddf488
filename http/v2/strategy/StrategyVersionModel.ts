/** A published version on the wire. Source: shapes 2.10. */
import { Schema } from "effect"
import { Allocation, AllocationDraft } from "#http/v2/strategy/AllocationModel.ts"
import { freeText } from "#http/values/freeText.ts"
import { prose, timestamp } from "#http/values/values.ts"

const versionExample = (version: number, changeLog: string | null, isHead: boolean) => ({
  version,
  allocation: {
    assets: [{ assetId: "eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", weight: "100.00" }]
  },
  changeLog,
  isHead,
  createdAt: `2026-03-0${version}T09:30:00.000Z`
})

const changeLog = "What has changed since the version before"

export const StrategyVersion = Schema.Struct({
  version: Schema.Int.annotate({ description: "The version's number, from 1 up without gaps.", examples: [2] }),
  allocation: Allocation,
  changeLog: Schema.NullOr(prose(`${changeLog}.`, 1_000, "More ether.")).annotate({
    description: `${changeLog}; null when nothing was said.`,
    examples: ["More ether."]
  }),
  isHead: Schema.Boolean.annotate({
    description: "Whether rebalances aim at this version; true for exactly one version of a strategy.",
    examples: [true]
  }),
  createdAt: timestamp("Time of the version's publication")
}).annotate({ identifier: "StrategyVersion", description: "One published target of a strategy; it never changes." })

/** A page of two versions, as publishing makes them. */
export const StrategyVersionPage = Schema.Array(StrategyVersion).annotate({
  description: "The page, newest first.",
  examples: [[versionExample(2, "More ether.", true), versionExample(1, null, false)]]
})

/** The body of publishing. */
export const VersionDraft = Schema.Struct({
  allocation: AllocationDraft,
  changeLog: Schema.optionalKey(
    Schema.NullOr(freeText({ minimum: 0, maximum: 500 }, `${changeLog}, at most 500 characters.`, "More ether."))
  )
}).annotate({ identifier: "VersionDraft", description: "A version to publish. The service numbers it." })
