/**
 * Carries a plan out on one chain.
 *
 * An attempt is `prepare` (quotes, limits, a simulated user operation; may repeat), then `submitBatch`, which puts it
 * on chain exactly once. A batch that the chain reverted moved nothing; the next attempt starts from a fresh plan.
 * Where the agent can do nothing without a new signature of the owner, it returns that at once, and the caller decides
 * how to wait.
 */
import { Effect } from "effect"
import { Activity } from "effect/workflow"
import type { OperationId } from "#domain/values/Ids.ts"
import { AccountQueue } from "#domain/operation/AccountQueue.ts"
import type { InWorkflow } from "#domain/operation/InWorkflow.ts"
import { BatchPreparer } from "#domain/rebalance/BatchPreparer.ts"
import { makeSubmitBatch } from "#domain/rebalance/submitBatch.ts"
import {
  batchOutcome,
  cancelledOutcome,
  outcomeAfter,
  unrecordedOutcome,
  unsignedSkip
} from "#domain/rebalance/chainOutcomes.ts"
import { batchSteps, type LandedBatch, type Ready } from "#domain/rebalance/Preparation.ts"
import { makePrepareUnlessTraded } from "#domain/rebalance/prepareUnlessTraded.ts"
import type { PlannedChain } from "#domain/planning/PlannedChain.ts"
import type { RunPlan } from "#domain/rebalance/RunPlan.ts"
import type { ChainOutcome } from "#domain/rebalance/RunReport.ts"
import type { Setback } from "#domain/relay/ActionStep.ts"
import { ChainAction, failedReceipts } from "#domain/relay/ChainAction.ts"
import type { AttemptId } from "#domain/relay/RelayStore.ts"
import { SignatureRequests } from "#domain/rebalance/SignatureRequests.ts"

/** What was taken back says nothing against the routes that it took. */
const isRevert = ({ receipt }: Setback<Ready>): boolean => receipt.isTakenBack !== true

/** What is left to be done on a chain once its owner has signed anew. */
export interface ReauthorizationRequired {
  readonly chain: PlannedChain
  readonly reason: string
  /** The attempt that was refused. */
  readonly attempt: number
}

/** What a run trades on one chain. */
export interface ChainTrade {
  readonly operationId: OperationId
  readonly plan: RunPlan
  readonly chain: PlannedChain
  /** The number of the first attempt. */
  readonly firstAttempt: number
}

/**
 * Trades on a chain: always ends with an outcome, in which is what could not be done, or fails with what the owner must
 * sign first. Must run inside a workflow.
 */
export const makeTradeOnChain = Effect.gen(function* () {
  const action = yield* ChainAction
  const queue = yield* AccountQueue
  const preparer = yield* BatchPreparer
  const owner = yield* SignatureRequests
  const prepareUnlessTraded = yield* makePrepareUnlessTraded
  const { submit, openTransfers } = yield* makeSubmitBatch

  /** The next operation of the account need not wait until all chains of this one are done. */
  const release = (attempt: AttemptId) =>
    Activity.make({ name: `release/${attempt.chainId}/${attempt.attempt}`, execute: queue.release(attempt) })

  /**
   * What the chain shows of the run although its attempts moved nothing. A batch that was taken back was public, and
   * anybody may have included it after all; what it sent to other chains is then in the ledger as if it had been ours.
   */
  const landedOutcome = Effect.fnUntraced(function* (
    { operationId, chain }: ChainTrade,
    landed: LandedBatch,
    setbacks: ReadonlyArray<Setback<Ready>>
  ) {
    const outcome = unrecordedOutcome(chain, landed, failedReceipts(setbacks))
    const own = setbacks.find(
      ({ receipt, step }) => receipt.isTakenBack === true && step.prepared.actionHash === landed.receipt.actionHash
    )
    if (own === undefined) return outcome
    const { skips, swaps, transfers = [] } = own.step
    if (transfers.length === 0) return { ...outcome, skips, swaps }
    const { attempt } = own
    yield* openTransfers({ operationId, chainId: chain.chainId, attempt }, own.step, landed.receipt)
    return { ...outcome, skips, swaps, transfers }
  })

  const execute = Effect.fnUntraced(function* (
    trade: ChainTrade
  ): Effect.fn.Return<ChainOutcome, ReauthorizationRequired, InWorkflow> {
    const { chain, firstAttempt, operationId, plan } = trade
    const { chainId, legs, skips, transfers = [] } = chain
    if (legs.length + transfers.length === 0) return outcomeAfter(chain, [])
    const end = yield* action.execute({
      operationId,
      chainId,
      firstAttempt,
      steps: batchSteps,
      turn: "inTurn",
      prepare: ({ setbacks, ...attempt }) =>
        prepareUnlessTraded({ attempt, plan, prepare: preparer.prepare(attempt, plan, setbacks.some(isRevert)) }),
      submit,
      complete: ({ receipt, setbacks, step }) =>
        step._tag === "Landed"
          ? Effect.asSome(landedOutcome(trade, step, setbacks))
          : Effect.succeedSome(batchOutcome(chain, { step, receipt }, failedReceipts(setbacks)))
    })
    if (end._tag === "Completed") return end.value
    const last = outcomeAfter(chain, end.setbacks)
    if (end._tag === "GivenUp") return last
    if (end._tag === "Cancelled")
      return cancelledOutcome(chain, { skips, ...end.step, reverted: failedReceipts(end.setbacks) })
    if (end.step._tag === "Nothing") return { ...last, skips: end.step.skips, failure: end.step.failure }
    const { attempt, step } = end
    if (yield* owner.record({ operationId, chainId, attempt }, step))
      return yield* Effect.fail({ chain, reason: step.reason, attempt })
    return { ...last, skips: [...step.skips, unsignedSkip(chain, step.reason)] }
  })

  return Effect.fnUntraced(function* (trade: ChainTrade) {
    const outcome = yield* execute(trade)
    const { chain, firstAttempt: attempt, operationId, plan } = trade
    if (outcome.receipt !== null && plan.chains.length > 1)
      yield* release({ operationId, chainId: chain.chainId, attempt })
    return outcome
  })
})
