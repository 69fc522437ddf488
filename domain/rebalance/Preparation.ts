/** What became of a planned chain before anything was signed by the relayer. */
import { Schema } from "effect"
import { PermissionId } from "#domain/account/Authorization.ts"
import { SignatureCause } from "#domain/account/RequiredSignatures.ts"
import { PolicyMeasures } from "#domain/planning/PolicyMeasures.ts"
import type { StepOf } from "#domain/relay/ActionStep.ts"
import { ActionReceipt } from "#domain/relay/Transaction.ts"
import { StoredBatch } from "#domain/trading/PreparedBatch.ts"
import { RecordedSkip } from "#domain/values/Skip.ts"
import { OutgoingTransfer } from "#domain/trading/OutgoingTransfer.ts"
import { Swap } from "#domain/trading/Swap.ts"

const Ready = Schema.TaggedStruct("Ready", {
  swaps: Schema.Array(Swap),
  transfers: Schema.optionalKey(Schema.Array(OutgoingTransfer)),
  skips: Schema.Array(RecordedSkip),
  /** The figures of the plan that it was made from. */
  measures: Schema.optionalKey(PolicyMeasures),
  prepared: StoredBatch
})
export type Ready = typeof Ready.Type

/** Why there is no batch. */
const NoBatch = Schema.Union([
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

/** A batch that is ready to be signed by the relayer, or why there is none. */
export type Preparation = Ready | typeof NoBatch.Type

/** What preparing a batch may come to; `landed`: trades of the run that are on chain and not in the database. */
export const batchSteps = {
  ready: Ready,
  landed: Schema.TaggedStruct("Landed", { receipt: ActionReceipt, swaps: Schema.Array(Swap) }),
  last: NoBatch
}
export type BatchStep = StepOf<typeof batchSteps>
export type LandedBatch = typeof batchSteps.landed.Type

export const nothing = (skips: ReadonlyArray<RecordedSkip>, failure: string | null): Preparation => ({
  _tag: "Nothing",
  skips,
  failure
})
