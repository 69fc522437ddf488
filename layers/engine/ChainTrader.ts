/**
 * Carries a plan out on one chain, exactly once, whatever crashes in between.
 *
 * An attempt is `prepare` (quotes, limits, a simulated user operation; may repeat), `sign` (nonce, bytes and result in
 * one commit), `confirm` (send the stored bytes until the chain shows what became of them) and `record`. A batch that
 * the chain reverted moved nothing; the next attempt starts from a fresh plan.
 */
import { Context, DateTime, Duration, Effect, Layer, Schema } from "effect"
import { ClusterSchema } from "effect/cluster"
import { Activity, DurableClock } from "effect/workflow"
import type { OperationId } from "#domain/Ids.ts"
import { OperationStore } from "#domain/operation/OperationStore.ts"
import { BatchPreparer, Preparation } from "#domain/rebalance/BatchPreparer.ts"
import {
  BatchReceipt,
  ChainExecution,
  type PreparedBatch,
  SignedTransaction
} from "#domain/rebalance/ChainExecution.ts"
import type { PlannedChain, RunPlan } from "#domain/rebalance/RunPlan.ts"
import type { ChainOutcome } from "#domain/rebalance/RunReport.ts"
import { type AttemptId, RunStore } from "#domain/rebalance/RunStore.ts"
import { awaitReceipt } from "#layers/engine/awaitReceipt.ts"

const maxAttempts = 3
const betweenSearches = Duration.seconds(30)

export class ChainTrader extends Context.Service<
  ChainTrader,
  {
    /** Always ends with an outcome; what could not be done is in it. Must run inside a workflow. */
    readonly trade: (
      operationId: OperationId,
      plan: RunPlan,
      chain: PlannedChain
    ) => ReturnType<ReturnType<typeof makeTrade>>
  }
>()("ballast/layers/engine/ChainTrader") {
  static readonly layer = Layer.effect(
    ChainTrader,
    Effect.gen(function* () {
      return ChainTrader.of({
        trade: makeTrade({
          operations: yield* OperationStore,
          runs: yield* RunStore,
          preparer: yield* BatchPreparer,
          execution: yield* ChainExecution
        })
      })
    })
  )
}

interface Services {
  readonly operations: OperationStore["Service"]
  readonly runs: RunStore["Service"]
  readonly preparer: BatchPreparer["Service"]
  readonly execution: ChainExecution["Service"]
}

const makeTrade = (services: Services) => {
  const { operations, runs, preparer, execution } = services

  const prepare = (attempt: AttemptId, plan: RunPlan) =>
    Activity.make({
      name: `prepare/${attempt.chainId}/${attempt.attempt}`,
      success: Preparation,
      execute: preparer.prepare(attempt, plan)
    })

  const sign = (attempt: AttemptId, prepared: PreparedBatch) =>
    Activity.make({
      name: `sign/${attempt.chainId}/${attempt.attempt}`,
      success: SignedTransaction,
      execute: Effect.gen(function* () {
        return yield* runs.reserve(attempt, prepared, execution.relayer, yield* DateTime.now, (nonce) =>
          execution.sign(prepared, nonce)
        )
      })
    }).annotate(ClusterSchema.WithTransaction, true)

  const search = (attempt: AttemptId, round: number, prepared: PreparedBatch, transaction: SignedTransaction) =>
    Activity.make({
      name: `confirm/${attempt.chainId}/${attempt.attempt}/${round}`,
      success: Schema.NullOr(BatchReceipt),
      execute: awaitReceipt({ operations, execution, operationId: attempt.operationId, prepared, transaction })
    })

  const record = (attempt: AttemptId, receipt: BatchReceipt) =>
    Activity.make({
      name: `record/${attempt.chainId}/${attempt.attempt}`,
      execute: Effect.gen(function* () {
        yield* runs.recordReceipt(attempt, receipt, yield* DateTime.now)
      })
    }).annotate(ClusterSchema.WithTransaction, true)

  /** What was signed may land at any later time, so it is searched until the chain has answered. */
  const confirm = Effect.fnUntraced(function* (
    attempt: AttemptId,
    prepared: PreparedBatch,
    transaction: SignedTransaction
  ) {
    for (let round = 1; ; round++) {
      const receipt = yield* search(attempt, round, prepared, transaction)
      if (receipt !== null) return receipt
      yield* DurableClock.sleep({
        name: `search/${attempt.chainId}/${attempt.attempt}/${round}`,
        duration: betweenSearches
      })
    }
  })

  return Effect.fnUntraced(function* (operationId: OperationId, plan: RunPlan, { chainId, legs, skips }: PlannedChain) {
    let last: ChainOutcome = { chainId, skips, swaps: [], receipt: null, failure: null }
    for (let number = 1; legs.length > 0 && number <= maxAttempts; number++) {
      const attempt: AttemptId = { operationId, chainId, attempt: number }
      const preparation = yield* prepare(attempt, plan)
      if (preparation._tag === "Nothing") return { ...last, skips: preparation.skips, failure: preparation.failure }
      const transaction = yield* sign(attempt, preparation.prepared)
      const receipt = yield* confirm(attempt, preparation.prepared, transaction)
      yield* record(attempt, receipt)
      const failure = receipt.success ? null : `the swaps were reverted in ${receipt.txHash}`
      last = { chainId, skips: preparation.skips, swaps: preparation.swaps, receipt, failure }
      if (receipt.success) return last
    }
    return last
  })
}
