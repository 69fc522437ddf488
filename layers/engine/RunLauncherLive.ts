/** Starts runs as workflow executions; the operation id is the idempotency key. */
import { Effect, Layer } from "effect"
import { WorkflowEngine } from "effect/workflow"
import { RunLauncher } from "#domain/rebalance/RunLauncher.ts"
import { RebalanceWorkflow } from "#layers/engine/RebalanceWorkflow.ts"

export const RunLauncherLive = Layer.effect(
  RunLauncher,
  Effect.gen(function* () {
    const engine = yield* WorkflowEngine.WorkflowEngine
    return RunLauncher.of({
      launch: Effect.fn("RunLauncher.launch")(function* (operationId) {
        yield* RebalanceWorkflow.execute({ operationId }, { discard: true }).pipe(
          Effect.provideService(WorkflowEngine.WorkflowEngine, engine)
        )
      })
    })
  })
)
