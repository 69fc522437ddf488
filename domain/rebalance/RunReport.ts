/** What a finished run did: each chain's swaps as the chain settled them, and each skip. */
import { Schema } from "effect"
import { ChainId } from "#domain/Caip.ts"
import { Swap } from "#domain/rebalance/ChainExecution.ts"
import { RecordedSkip } from "#domain/rebalance/RunPlan.ts"
import { SkipCode } from "#domain/rebalance/Skip.ts"
import { OutgoingTransfer } from "#domain/transfer/OutgoingTransfer.ts"
import { ActionReceipt } from "#domain/relay/Transaction.ts"

export const ChainOutcome = Schema.Struct({
  chainId: ChainId,
  /** The swaps that were sent; empty when there was nothing to trade or nothing could be. */
  swaps: Schema.Array(Swap),
  /** What was sent to other chains in the same operation. */
  transfers: Schema.optionalKey(Schema.Array(OutgoingTransfer)),
  skips: Schema.Array(RecordedSkip),
  /** The receipt of the operation that landed; null when none did. */
  receipt: Schema.NullOr(ActionReceipt),
  /** Why swaps that were planned did not happen; null when all that were tried did. */
  failure: Schema.NullOr(Schema.String)
})
export type ChainOutcome = typeof ChainOutcome.Type

export const RunReport = Schema.Struct({ strategyVersion: Schema.Int, chains: Schema.Array(ChainOutcome) })
export type RunReport = typeof RunReport.Type

/** A chain that waited in vain for its owner. */
const isUnsigned = ({ failure, skips }: ChainOutcome): boolean =>
  failure !== null && skips.some(({ code }) => code === SkipCode.signatureRequired)

/**
 * The error text of a run, or null when it completed: a run fails when something was to be traded and nothing landed
 * anywhere, and when its owner did not sign in time. Any other chain that could not trade beside one that did is told
 * in the report.
 */
export const failureOf = (chains: ReadonlyArray<ChainOutcome>): string | null => {
  const failures = chains.flatMap(({ chainId, failure }) => (failure === null ? [] : [`chain ${chainId}: ${failure}`]))
  const landed = chains.some(({ receipt }) => receipt?.success === true)
  return failures.length > 0 && (!landed || chains.some(isUnsigned)) ? failures.join("; ") : null
}
