/** The event that records that a rebalance over several chains is done with one of them. */
import { Schema } from "effect"
import { ChainId } from "#domain/values/Caip.ts"
import type { ChainOutcome } from "#domain/rebalance/RunReport.ts"

export const chainCompleted = "chain_settled"

/** What is stored of it. */
export const ChainCompletion = Schema.Struct({
  chainId: ChainId,
  /** Chains on which the run has something to do. */
  totalSteps: Schema.Int,
  /** Sentence for people. */
  message: Schema.String
})
export type ChainCompletion = typeof ChainCompletion.Type

const messageOf = ({ chainId, failure, receipt, swaps, transfers = [] }: ChainOutcome): string => {
  if (receipt?.success !== true) return `Chain ${chainId}: nothing moved${failure === null ? "" : `, ${failure}`}`
  const count = swaps.length + transfers.length
  return `Chain ${chainId}: ${count} ${count === 1 ? "action" : "actions"} landed in ${receipt.txHash}`
}

export const completionOf = (outcome: ChainOutcome, totalSteps: number): ChainCompletion => ({
  chainId: outcome.chainId,
  totalSteps,
  message: messageOf(outcome)
})
