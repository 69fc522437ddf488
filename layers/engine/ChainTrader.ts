/**
 * Carries a plan out on one chain, exactly once, whatever crashes in between.
 *
 * An attempt is `prepare` (quotes, limits, a simulated user operation; may repeat), `sign` (nonce, bytes and result in
 * one commit), `confirm` (send the stored bytes until the chain shows what became of them) and `record`. A batch that
 * the chain reverted moved nothing by itself, but time has passed, so the next attempt starts from a fresh plan: whatever
happened meanwhile, a trade that is no longer needed is not made.
 */
import { Context, DateTime, Duration, Effect, Layer, Schema } from "effect"
import { ClusterSchema } from "effect/cluster"
import { Activity, DurableClock } from "effect/workflow"
import type { OperationId } from "#domain/Ids.ts"
import { OperationStore } from "#domain/operation/OperationStore.ts"
import { BatchPreparer, Preparation } from "#domain/rebalance/BatchPreparer.ts"
import { BatchReceipt, ChainExecution, type PreparedBatch, SignedTransaction } from "#domain/rebalance/ChainExecution.ts"
import { PlannedChain, type RunPlan } from "#domain/rebalance/RunPlan.ts"
import { RunPlanner } from "#domain/rebalance/RunPlanner.ts"
import type { ChainOutcome } from "#domain/rebalance/RunReport.ts"
import { type AttemptId, RunStore } from "#domain/rebalance/RunStore.ts"
import { awaitReceipt } from "#layers/engine/awaitReceipt.ts"

const maxAttempts = 3

const untouched = { swaps: [], receipt: null, failure: null } as const
const betweenSearches = Duration.seconds(30)

export class ChainTrader extends Context.Service<
  ChainTrader,
  {
    /** Always ends with an outcome; what could not be done is in it. Must run inside a workflow. */
    readonly trade: (
      operationId: OperationId,
      chain: PlannedChain,
      limits: RunPlan["limits"]
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
          planner: yield* RunPlanner,
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
  readonly planner: RunPlanner["Service"]
  readonly preparer: BatchPreparer["Service"]
  readonly execution: ChainExecution["Service"]
}

const makeTrade = (services: Services) => {
  const { operations, runs, planner, preparer, execution } = services

  const prepare = (attempt: AttemptId, chain: PlannedChain, limits: RunPlan["limits"]) =>
    Activity.make({
      name: `prepare/${attempt.chainId}/${attempt.attempt}`,
      success: Preparation,
      execute: preparer.prepare(attempt.operationId, chain, limits)
    })

  const replan = ({ chainId }: PlannedChain, { operationId, attempt }: AttemptId) =>
    Activity.make({
      name: `replan/${chainId}/${attempt}`,
      success: PlannedChain,
      execute: Effect.gen(function* () {
        const context = yield* Effect.flatMap(runs.context(operationId), Effect.fromOption)
        const { chains } = yield* planner.plan(context)
        return chains.find((chain) => chain.chainId === chainId) ?? { chainId, legs: [], skips: [] }
      }).pipe(Effect.orDie)
    })

  const sign = (attempt: AttemptId, prepared: PreparedBatch) =>
    Activity.make({
      name: `sign/${attempt.chainId}/${attempt.attempt}`,
      success: SignedTransaction,
      execute: Effect.gen(function* () {
        return yield* runs.reserve(attempt, prepared, execution.relayer, yield* DateTime.now, (nonce) => execution.sign(prepared, nonce))
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
  const confirm = Effect.fnUntraced(function* (attempt: AttemptId, prepared: PreparedBatch, transaction: SignedTransaction) {
    for (let round = 1; ; round++) {
      const receipt = yield* search(attempt, round, prepared, transaction)
      if (receipt !== null) return receipt
      yield* DurableClock.sleep({ name: `search/${attempt.chainId}/${attempt.attempt}/${round}`, duration: betweenSearches })
    }
  })

  return Effect.fnUntraced(function* (operationId: OperationId, chain: PlannedChain, limits: RunPlan["limits"]) {
    let last: ChainOutcome = { ...untouched, chainId: chain.chainId, skips: chain.skips }
    for (let number = 1; number <= maxAttempts; number++) {
      const attempt: AttemptId = { operationId, chainId: chain.chainId, attempt: number }
      const planned = number === 1 ? chain : yield* replan(chain, attempt)
      if (planned.legs.length === 0) return { ...last, skips: planned.skips, failure: null }
      const preparation = yield* prepare(attempt, planned, limits)
      const skips = [...planned.skips, ...preparation.skips]
      if (preparation._tag === "Nothing") return { ...last, skips, failure: preparation.failure }
      const transaction = yield* sign(attempt, preparation.prepared)
      const receipt = yield* confirm(attempt, preparation.prepared, transaction)
      yield* record(attempt, receipt)
      const { swaps } = preparation
      if (receipt.success) return { chainId: chain.chainId, swaps, skips, receipt, failure: null }
      last = { chainId: chain.chainId, swaps, skips, receipt, failure: `the swaps were reverted in ${receipt.txHash}` }
    }
    return last
  })
}
