/** The rebalance engine: durable runs, their launcher and the scheduler that feeds it. */
import { Effect, Layer } from "effect"
import { BatchPreparer } from "#domain/rebalance/BatchPreparer.ts"
import { RunPlanner } from "#domain/rebalance/RunPlanner.ts"
import { Scheduler } from "#domain/rebalance/Scheduler.ts"
import { ChainTrader } from "#layers/engine/ChainTrader.ts"
import { RebalanceRun } from "#layers/engine/RebalanceRun.ts"
import { RebalanceWorkflow } from "#layers/engine/RebalanceWorkflow.ts"
import { RunLauncherLive } from "#layers/engine/RunLauncherLive.ts"
import { TransactionRelay } from "#layers/engine/TransactionRelay.ts"
import { WorkflowRuntime } from "#layers/engine/WorkflowRuntime.ts"

const RunLive = RebalanceRun.layer.pipe(
  Layer.provide(ChainTrader.layer),
  Layer.provide(TransactionRelay.layer),
  Layer.provide(BatchPreparer.layer),
  Layer.provide(RunPlanner.layer)
)

const WorkflowLive = Layer.unwrap(
  Effect.gen(function* () {
    const run = yield* RebalanceRun
    return RebalanceWorkflow.toLayer(({ operationId }) => run.execute(operationId))
  })
).pipe(Layer.provide(RunLive))

/** Runs workflows and launches them. */
export const EngineLive = Layer.mergeAll(RunLauncherLive, WorkflowLive).pipe(Layer.provide(WorkflowRuntime))

/** The scheduler and its fiber; needs a launcher. */
export const SchedulerLive = Scheduler.fiber.pipe(Layer.provideMerge(Scheduler.layer))
