/** The engine: durable runs of rebalances, withdrawals and transfers between chains, their launcher and the scheduler that feeds it. */
import { Effect, Layer } from "effect"
import { BatchPreparer } from "#domain/rebalance/BatchPreparer.ts"
import { BestQuotes } from "#domain/rebalance/BestQuotes.ts"
import { RunPlanner } from "#domain/rebalance/RunPlanner.ts"
import { Scheduler } from "#domain/rebalance/Scheduler.ts"
import { InTransit } from "#domain/transfer/InTransit.ts"
import { TransferQuotes } from "#domain/transfer/TransferQuotes.ts"
import { TransferWatcher } from "#domain/transfer/TransferWatcher.ts"
import { Liquidator } from "#domain/withdrawal/Liquidator.ts"
import { WithdrawalPreparer } from "#domain/withdrawal/WithdrawalPreparer.ts"
import { BridgeRun } from "#layers/engine/BridgeRun.ts"
import { BridgeWorkflow } from "#layers/engine/BridgeWorkflow.ts"
import { ChainTrader } from "#layers/engine/ChainTrader.ts"
import { OperationLauncherLive } from "#layers/engine/OperationLauncherLive.ts"
import { OwnerWait } from "#layers/engine/OwnerWait.ts"
import { RebalanceRun } from "#layers/engine/RebalanceRun.ts"
import { RebalanceWorkflow } from "#layers/engine/RebalanceWorkflow.ts"
import { TransactionRelay } from "#layers/engine/TransactionRelay.ts"
import { WithdrawalRun } from "#layers/engine/WithdrawalRun.ts"
import { WithdrawalWorkflow } from "#layers/engine/WithdrawalWorkflow.ts"
import { WorkflowRuntime } from "#layers/engine/WorkflowRuntime.ts"

const RunsLive = Layer.mergeAll(
  RebalanceRun.layer.pipe(
    Layer.provide(ChainTrader.layer),
    Layer.provide(OwnerWait.layer),
    Layer.provide(BatchPreparer.layer),
    Layer.provide(BestQuotes.layer),
    Layer.provide(TransferQuotes.layer),
    Layer.provide(RunPlanner.layer),
    Layer.provide(InTransit.layer)
  ),
  BridgeRun.layer.pipe(Layer.provide(TransferWatcher.layer)),
  WithdrawalRun.layer.pipe(Layer.provide(WithdrawalPreparer.layer), Layer.provide(Liquidator.layer))
).pipe(Layer.provide(TransactionRelay.layer))

const WorkflowsLive = Layer.unwrap(
  Effect.gen(function* () {
    const rebalance = yield* RebalanceRun
    const withdrawal = yield* WithdrawalRun
    const bridge = yield* BridgeRun
    return Layer.mergeAll(
      RebalanceWorkflow.toLayer(({ operationId }) => rebalance.execute(operationId)),
      WithdrawalWorkflow.toLayer(({ operationId }) => withdrawal.execute(operationId)),
      BridgeWorkflow.toLayer(({ operationId }) => bridge.execute(operationId))
    )
  })
).pipe(Layer.provide(RunsLive), Layer.provide(OperationLauncherLive))

/** Runs workflows on a runtime, and launches them. */
export const engineOn = <E, R>(runtime: Layer.Layer<Layer.Success<typeof WorkflowRuntime>, E, R>) =>
  Layer.mergeAll(OperationLauncherLive, WorkflowsLive).pipe(Layer.provide(runtime))

export const EngineLive = engineOn(WorkflowRuntime)

/** The scheduler and its fiber; needs a launcher. */
export const SchedulerLive = Scheduler.fiber.pipe(Layer.provideMerge(Scheduler.layer))
