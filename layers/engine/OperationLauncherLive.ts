/** Starts operations as workflow executions; the operation id is the idempotency key. */
import { Context, Effect, Layer } from "effect"
import { DurableDeferred, WorkflowEngine } from "effect/workflow"
import { type Launch, OperationLauncher } from "#domain/operation/OperationLauncher.ts"
import { wakeSignal } from "#domain/operation/wakeSignal.ts"
import { ActionWorkflow } from "#domain/action/ActionWorkflow.ts"
import { BridgeWorkflow } from "#domain/transfer/BridgeWorkflow.ts"
import { RunsInFlight } from "#layers/engine/cluster/RunsInFlight.ts"
import { RebalanceWorkflow } from "#domain/rebalance/RebalanceWorkflow.ts"
import { WithdrawalWorkflow } from "#domain/withdrawal/WithdrawalWorkflow.ts"
import { RevocationWorkflow } from "#domain/revocation/RevocationWorkflow.ts"
import { spanIsAbout } from "#domain/spanAttributes.ts"

const execute = ({ kind, operationId }: Launch) => {
  switch (kind) {
    case "rebalance":
      return RebalanceWorkflow.execute({ operationId }, { discard: true })
    case "withdraw":
      return WithdrawalWorkflow.execute({ operationId }, { discard: true })
    case "bridge":
      return BridgeWorkflow.execute({ operationId }, { discard: true })
    case "revoke":
      return RevocationWorkflow.execute({ operationId }, { discard: true })
    case "swap":
    case "execute":
      return ActionWorkflow.execute({ operationId }, { discard: true })
  }
}

/** Runs that wait for a signature sleep for minutes; those of other kinds poll every few seconds by themselves. */
const wake = ({ kind, operationId }: Launch): Effect.Effect<void, never, WorkflowEngine.WorkflowEngine> =>
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
    return OperationLauncher.of({
      capacity: Effect.sync(free),
      launch: Effect.fn("OperationLauncher.launch")(function* (operation: Launch) {
        yield* spanIsAbout(operation)
        const run: Effect.Effect<unknown, never, WorkflowEngine.WorkflowEngine> = execute(operation)
        yield* run.pipe(Effect.provideService(WorkflowEngine.WorkflowEngine, engine), Effect.updateContext(alone))
      }),
      wake: Effect.fn("OperationLauncher.wake")((operation: Launch) =>
        Effect.andThen(
          spanIsAbout(operation),
          Effect.provideService(wake(operation), WorkflowEngine.WorkflowEngine, engine)
        )
      )
    })
  })
)
