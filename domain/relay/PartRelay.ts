/**
 * Port: puts one part of a prepared action on a chain where each part is a transaction of its own, exactly once. What
 * is sent was written down before (`PartJournal`), and other bytes are signed only when those before can no longer
 * land.
 */
import { Context, Effect, type Option, Schema } from "effect"
import { AssetId } from "#domain/values/Caip.ts"
import type { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import type { AttemptId } from "#domain/relay/RelayStore.ts"
import { type PreparedParts, TxHash } from "#domain/relay/Transaction.ts"

export const PartOutcome = Schema.Union([
  Schema.TaggedStruct("Landed", {
    txHash: TxHash,
    slot: Schema.BigIntFromString,
    /** What the service paid, in the smallest unit of the native asset. */
    feeRaw: Schema.BigIntFromString,
    /** The account's balances after the part less those before it. */
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
  /** Its operation is to be cancelled, and nothing of the part was signed. */
  Schema.TaggedStruct("Cancelled", {})
])
export type PartOutcome = typeof PartOutcome.Type

/**
 * Puts one part of a prepared action on its chain.
 *
 * **When to use**
 *
 * Use in steps of a workflow that submits an action of several parts; the workflow itself uses `TransactionRelay`.
 *
 * **Details**
 *
 * Without a chain that takes parts, a part to submit is a defect.
 */
export const PartRelay = Context.Reference<{
  /**
   * What became of the part at this position; none when that is not known yet, and then it is called again. May be
   * repeated at any time, one at a time for an attempt. Not for use inside a transaction.
   */
  readonly submit: (
    attempt: AttemptId,
    prepared: PreparedParts,
    part: number
  ) => Effect.Effect<Option.Option<PartOutcome>, ChainUnavailable>
}>("ballast/domain/relay/PartRelay", {
  defaultValue: () => ({
    submit: ({ chainId }) =>
      Effect.die(new Error(`Chain ${chainId} is not configured, and an operation has parts to submit on it`))
  })
})
