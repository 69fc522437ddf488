/** Starts operations as workflow executions; the operation id is the idempotency key. */
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { DurableDeferred, WorkflowEngine } from "effect/workflow"
import { type Launch, OperationLauncher } from "#domain/operation/OperationLauncher.ts"
import { wakeSignal } from "#domain/operation/wakeSignal.ts"
import { OrderWorkflow } from "#domain/order/OrderWorkflow.ts"
import { BridgeWorkflow } from "#domain/transfer/BridgeWorkflow.ts"
import { RunsInFlight } from "#layers/engine/cluster/RunsInFlight.ts"
import { RebalanceWorkflow } from "#domain/rebalance/RebalanceWorkflow.ts"
import { WithdrawalWorkflow } from "#domain/withdrawal/WithdrawalWorkflow.ts"
import { RevocationWorkflow } from "#domain/revocation/RevocationWorkflow.ts"
import { spanIsAbout } from "#domain/effects/spanAttributes.ts"
import { wakeRun } from "#layers/sql/run/wakeRun.ts"

const workflowOf = (kind: Launch["kind"]) => {
  switch (kind) {
    case "rebalance":
      return RebalanceWorkflow
    case "withdraw":
      return WithdrawalWorkflow
    case "bridge":
      return BridgeWorkflow
    case "revoke":
      return RevocationWorkflow
    case "swap":
    case "execute":
      return OrderWorkflow
  }
}

/** A run that waits for a signature finds the signal whenever it begins again, and waits no more. */
const signal = ({ kind, operationId }: Launch): Effect.Effect<void, never, WorkflowEngine.WorkflowEngine> =>
  kind === "rebalance"
    ? Effect.flatMap(
        DurableDeferred.tokenFromPayload(wakeSignal, { workflow: RebalanceWorkflow, payload: { operationId } }),
        (token) => DurableDeferred.succeed(wakeSignal, { token, value: undefined })
      )
    : Effect.void

/** A launch may come from a run, of which the launched one is no part. */
const alone = (context: Context.Context<never>) =>
  Context.omit(WorkflowEngine.WorkflowInstance)(context as Context.Context<WorkflowEngine.WorkflowInstance>)

export const OperationLauncherLive = Layer.effect(
  OperationLauncher,
  Effect.gen(function* () {
    const engine = yield* WorkflowEngine.WorkflowEngine
    const { free } = yield* RunsInFlight
    const sql = yield* SqlClient.SqlClient
    const endWaits = Effect.fnUntraced(function* ({ kind, operationId }: Launch) {
      const executionId = yield* workflowOf(kind).executionId({ operationId })
      yield* Effect.orDie(wakeRun(sql, executionId))
    })
    return OperationLauncher.of({
      capacity: Effect.sync(free),
      launch: Effect.fn("OperationLauncher.launch")(function* (operation: Launch) {
        yield* spanIsAbout(operation)
        const { kind, operationId } = operation
        const workflow = workflowOf(kind)
        const run: Effect.Effect<unknown, never, WorkflowEngine.WorkflowEngine> = workflow.execute(
          { operationId },
          { discard: true }
        )
        yield* run.pipe(Effect.provideService(WorkflowEngine.WorkflowEngine, engine), Effect.updateContext(alone))
      }),
      wake: Effect.fn("OperationLauncher.wake")((operation: Launch) =>
        spanIsAbout(operation).pipe(
          Effect.andThen(endWaits(operation)),
          Effect.andThen(Effect.provideService(signal(operation), WorkflowEngine.WorkflowEngine, engine))
        )
      )
    })
  })
)
