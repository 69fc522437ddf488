/**
 * The engine: durable runs of rebalances, withdrawals, swaps, revocations and transfers between chains, their launcher
 * and the scheduler that feeds it.
 */
import { Effect, Layer } from "effect"
import { OrderRun } from "#domain/order/OrderRun.ts"
import { OrderWorkflow } from "#domain/order/OrderWorkflow.ts"
import { CallsPreparer } from "#domain/order/CallsPreparer.ts"
import { SwapPreparer } from "#domain/order/SwapPreparer.ts"
import { PortfolioValuer } from "#domain/performance/PortfolioValuer.ts"
import { BatchPreparer } from "#domain/rebalance/BatchPreparer.ts"
import { RunPlanner } from "#domain/rebalance/plan/RunPlanner.ts"
import { Scheduler } from "#domain/rebalance/Scheduler.ts"
import { InTransit } from "#domain/transfer/InTransit.ts"
import { ChainAction } from "#domain/relay/ChainAction.ts"
import { GasBudget } from "#domain/relay/GasBudget.ts"
import { TransferWatcher } from "#domain/transfer/TransferWatcher.ts"
import { Liquidator } from "#domain/withdrawal/Liquidator.ts"
import { BridgeRun } from "#domain/transfer/BridgeRun.ts"
import { BridgeWorkflow } from "#domain/transfer/BridgeWorkflow.ts"
import { OperationLauncherLive } from "#layers/engine/OperationLauncherLive.ts"
import { SignatureRequests } from "#domain/rebalance/SignatureRequests.ts"
import { RebalanceRun } from "#domain/rebalance/RebalanceRun.ts"
import { RebalanceWorkflow } from "#domain/rebalance/RebalanceWorkflow.ts"
import { TransactionRelay } from "#domain/relay/TransactionRelay.ts"
import { WithdrawalRun } from "#domain/withdrawal/WithdrawalRun.ts"
import { WithdrawalWorkflow } from "#domain/withdrawal/WithdrawalWorkflow.ts"
import { RevocationRun } from "#domain/revocation/RevocationRun.ts"
import { RevocationWorkflow } from "#domain/revocation/RevocationWorkflow.ts"
import type { OperationId } from "#domain/values/Ids.ts"
import { spansAreAbout } from "#domain/effects/spanAttributes.ts"
import { WorkflowRuntime } from "#layers/engine/WorkflowRuntime.ts"

const RunsLive = Layer.mergeAll(
  RebalanceRun.layer.pipe(
    Layer.provide([SignatureRequests.layer, BatchPreparer.layer]),
    Layer.provide(RunPlanner.layer),
    Layer.provide(InTransit.layer)
  ),
  BridgeRun.layer.pipe(Layer.provide(TransferWatcher.layer)),
  OrderRun.layer.pipe(Layer.provide([SwapPreparer.layer, CallsPreparer.layer]), Layer.provide(GasBudget.layer)),
  RevocationRun.layer,
  WithdrawalRun.layer.pipe(Layer.provide(Liquidator.layer))
).pipe(Layer.provide([ChainAction.layer, TransactionRelay.layer, PortfolioValuer.layer, GasBudget.layer]))

/** The body of a workflow, whose spans say which operation they are of. */
const traced =
  <A, E, R>(execute: (operationId: OperationId) => Effect.Effect<A, E, R>) =>
  ({ operationId }: { readonly operationId: OperationId }) =>
    spansAreAbout({ operationId })(execute(operationId))

const WorkflowsLive = Layer.unwrap(
  Effect.gen(function* () {
    const rebalance = yield* RebalanceRun
    const withdrawal = yield* WithdrawalRun
    const bridge = yield* BridgeRun
    const revocation = yield* RevocationRun
    const action = yield* OrderRun
    return Layer.mergeAll(
      RebalanceWorkflow.toLayer(traced(rebalance.execute)),
      WithdrawalWorkflow.toLayer(traced(withdrawal.execute)),
      OrderWorkflow.toLayer(traced(action.execute)),
      RevocationWorkflow.toLayer(traced(revocation.execute)),
      BridgeWorkflow.toLayer(traced(bridge.execute))
    )
  })
).pipe(Layer.provide(RunsLive), Layer.provide(OperationLauncherLive))

/** Runs workflows on a runtime, and launches them. */
export const engineOn = <E, R>(runtime: Layer.Layer<Layer.Success<typeof WorkflowRuntime>, E, R>) =>
  Layer.mergeAll(OperationLauncherLive, WorkflowsLive).pipe(Layer.provide(runtime))

export const EngineLive = engineOn(WorkflowRuntime)

/** The scheduler and its fiber; needs a launcher. */
export const SchedulerLive = Scheduler.fiber.pipe(Layer.provideMerge(Scheduler.layer))
