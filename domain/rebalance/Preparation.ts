/** What became of a planned chain before anything was signed by the relayer. */
import { Schema } from "effect"
import { PermissionId } from "#domain/account/Authorization.ts"
import { SignatureCause } from "#domain/account/RequiredSignatures.ts"
import { PolicyMeasures } from "#domain/planning/PolicyMeasures.ts"
import { StoredBatch } from "#domain/trading/PreparedBatch.ts"
import { RecordedSkip } from "#domain/values/Skip.ts"
import { OutgoingTransfer } from "#domain/trading/OutgoingTransfer.ts"
import { Swap } from "#domain/trading/Swap.ts"

/** A batch that is ready to be signed by the relayer, or why there is none. Stored with the step that made it. */
export const Preparation = Schema.Union([
  Schema.TaggedStruct("Ready", {
    swaps: Schema.Array(Swap),
    transfers: Schema.optionalKey(Schema.Array(OutgoingTransfer)),
    skips: Schema.Array(RecordedSkip),
    /** The figures of the plan that it was made from. */
    measures: Schema.optionalKey(PolicyMeasures),
    prepared: StoredBatch
  }),
  /** The agent can act on the chain no longer until the owner has signed anew. */
  Schema.TaggedStruct("Unsigned", {
    skips: Schema.Array(RecordedSkip),
    permissionId: PermissionId,
    cause: SignatureCause,
    reason: Schema.String
  }),
  /**
   * Nothing could be traded, or nothing is left to trade; `failure` is the reason when that is not what was planned.
   */
  Schema.TaggedStruct("Nothing", { skips: Schema.Array(RecordedSkip), failure: Schema.NullOr(Schema.String) })
])
export type Preparation = typeof Preparation.Type

export type Ready = Extract<Preparation, { readonly _tag: "Ready" }>

export const nothing = (skips: ReadonlyArray<RecordedSkip>, failure: string | null): Preparation => ({
  _tag: "Nothing",
  skips,
  failure
})
