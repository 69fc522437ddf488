/** What comes of preparing an action on a chain. Stored with the step that prepared it. */
import { Schema } from "effect"
import type { AttemptId } from "#domain/relay/RelayStore.ts"
import type { ActionReceipt } from "#domain/relay/Transaction.ts"

/** Why there is nothing to be signed yet. */
export const NotYet = Schema.Union([
  /** Something outside must change first, and may. */
  Schema.TaggedStruct("Waiting", { reason: Schema.String }),
  /** It would not succeed as things stand. */
  Schema.TaggedStruct("Refused", { reason: Schema.String }),
  /** What was sent before may carry it out, or has done so in a block that does not count yet. */
  Schema.TaggedStruct("Pending", { reason: Schema.String })
])
export type NotYet = typeof NotYet.Type

/** It is not carried out any more. */
export const Closed = Schema.TaggedStruct("Closed", { reason: Schema.String })
export type Closed = typeof Closed.Type

/** Nothing is signed for it any more, by request. */
export const Cancelled = Schema.TaggedStruct("Cancelled", {})

/** It passed simulation, and is to be signed by the relayer. */
export interface ReadyStep {
  readonly _tag: "Ready"
}

/** It was carried out before, by whatever sender. */
export interface FoundStep {
  readonly _tag: "Landed"
  readonly receipt: ActionReceipt
}

/** It needs no attempt any more, or none can be made. */
export interface LastStep {
  readonly _tag: "Closed" | "Ended" | "Nothing" | "Unsigned"
}

/** What preparing an action may come to beside `NotYet`, as a run stores it. */
export interface StepSchemas<Ready extends ReadyStep, Found extends FoundStep, Last extends LastStep> {
  readonly ready: Schema.ConstraintCodec<Ready, unknown>
  /** Left out where `last` says it too. */
  readonly landed?: Schema.ConstraintCodec<Found, unknown>
  readonly last: Schema.ConstraintCodec<Last, unknown>
}

/** What preparing an action may come to. */
export type StepOf<Schemas extends Readonly<Record<string, Schema.Constraint>>> =
  | Schemas[keyof Schemas]["Type"]
  | NotYet

/** An attempt that moved nothing. */
export interface Setback<Ready extends ReadyStep> {
  readonly attempt: AttemptId["attempt"]
  readonly step: Ready
  readonly receipt: ActionReceipt
}
