/**
 * Port: puts one step of a prepared action on a chain where each step is a transaction of its own, exactly once. What
 * is sent was written down before (`StepJournal`), and other bytes are signed only when those before can no longer
 * land.
 */
import { Context, Effect, type Option, Schema } from "effect"
import { AssetId } from "#domain/values/Caip.ts"
import type { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import type { AttemptId } from "#domain/relay/RelayStore.ts"
import { type PreparedSteps, TxHash } from "#domain/relay/Transaction.ts"

export const StepOutcome = Schema.Union([
  Schema.TaggedStruct("Landed", {
    txHash: TxHash,
    slot: Schema.BigIntFromString,
    /** What the service paid, in the smallest unit of the native asset. */
    feeRaw: Schema.BigIntFromString,
    /** The account's balances after the step less those before it. */
    deltas: Schema.Array(Schema.Struct({ assetId: AssetId, raw: Schema.BigIntFromString }))
  }),
  /** It had no effect and will have none. */
  Schema.TaggedStruct("Failed", {
    reason: Schema.String,
    /** Whether anything was signed for it; none of that can land any more. */
    isSigned: Schema.Boolean,
    /** The transaction that a block holds as failed, which was paid for; null when no block holds any. */
    included: Schema.NullOr(
      Schema.Struct({ txHash: TxHash, slot: Schema.BigIntFromString, feeRaw: Schema.BigIntFromString })
    )
  }),
  /** Its operation is to be cancelled, and nothing of the step was signed. */
  Schema.TaggedStruct("Cancelled", {})
])
export type StepOutcome = typeof StepOutcome.Type

/**
 * Puts one step of a prepared action on its chain.
 *
 * **When to use**
 *
 * Use in steps of a workflow that carries an action of several steps; the workflow itself uses `TransactionRelay`.
 *
 * **Details**
 *
 * Without a chain that carries steps, a step to carry is a defect.
 */
export const StepCarrier = Context.Reference<{
  /**
   * What became of the step at this place; none when that is not known yet, and then it is called again. May be
   * repeated at any time, one at a time for an attempt. Not for use inside a transaction.
   */
  readonly carry: (
    attempt: AttemptId,
    prepared: PreparedSteps,
    step: number
  ) => Effect.Effect<Option.Option<StepOutcome>, ChainUnavailable>
}>("ballast/domain/relay/StepCarrier", {
  defaultValue: () => ({
    carry: ({ chainId }) =>
      Effect.die(new Error(`Chain ${chainId} is not configured, and an operation has steps to carry out on it`))
  })
})
