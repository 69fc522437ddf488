/** What an action does: begin, carry the order out, finish. */
import { Context, DateTime, Effect, Layer } from "effect"
import { Activity } from "effect/workflow"
import { type ActionEnd, ActionStore, type StoredAction } from "#domain/action/ActionStore.ts"
import { swapSteps } from "#domain/action/SwapPreparer.ts"
import { eventOfAction, resultOfAction } from "#domain/action/resultOfAction.ts"
import { withSwap } from "#domain/action/earlierAttempts.ts"
import { makePrepareAction } from "#domain/action/prepareAction.ts"
import type { OperationId } from "#domain/values/Ids.ts"
import type { InWorkflow } from "#domain/operation/InWorkflow.ts"
import { OperationStore } from "#domain/operation/OperationStore.ts"
import { lastStep, runOperation } from "#domain/operation/runSteps.ts"
import { PortfolioValuer } from "#domain/performance/PortfolioValuer.ts"
import { CarriedActions } from "#domain/relay/CarriedActions.ts"
import { ChainAction, failedReceipts, whyUnmade } from "#domain/relay/ChainAction.ts"
import { GasBudget } from "#domain/relay/GasBudget.ts"
import { recordedTransactions } from "#domain/relay/recordedTransactions.ts"
import type { ActionReceipt } from "#domain/relay/Transaction.ts"
import { TransactionRelay } from "#domain/relay/TransactionRelay.ts"

/**
 * The workflow of an action.
 *
 * **When to use**
 *
 * Use as the body that the engine runs for operations of the kinds `swap` and `execute`. They are accepted by `Actions`
 * and `DirectExecutions`.
 */
export class ActionRun extends Context.Service<
  ActionRun,
  {
    /** The body of the workflow. */
    readonly execute: (operationId: OperationId) => Effect.Effect<void, never, InWorkflow>
  }
>()("ballast/domain/action/ActionRun") {
  static readonly layer = Layer.effect(
    ActionRun,
    Effect.gen(function* () {
      const services = {
        operations: yield* OperationStore,
        chain: yield* ChainAction,
        store: yield* ActionStore,
        prepareAction: yield* makePrepareAction,
        actions: yield* CarriedActions,
        relay: yield* TransactionRelay,
        valuer: yield* PortfolioValuer,
        gas: yield* GasBudget
      }
      return ActionRun.of({ execute: (operationId) => makeExecute(services, operationId) })
    })
  )
}

interface Services {
  readonly operations: OperationStore["Service"]
  readonly chain: ChainAction["Service"]
  readonly store: ActionStore["Service"]
  readonly prepareAction: Effect.Success<typeof makePrepareAction>
  readonly actions: CarriedActions["Service"]
  readonly relay: TransactionRelay["Service"]
  readonly valuer: PortfolioValuer["Service"]
  readonly gas: GasBudget["Service"]
}

const makeExecute = (
  { actions, chain, gas, operations, prepareAction, relay, store, valuer }: Services,
  operationId: OperationId
) => {
  const load = Effect.orDie(Effect.flatMap(store.find(operationId), Effect.fromOption))

  /** Nothing moved where the outcome is null. */
  const finish = (
    { order: { chainId } }: StoredAction,
    end: Pick<ActionEnd, "error" | "isCancelled" | "outcome">,
    receipts: ReadonlyArray<ActionReceipt>
  ) =>
    lastStep(
      "finish",
      Effect.gen(function* () {
        const at = yield* DateTime.now
        const { error: failure, outcome } = end
        if (outcome !== null) yield* operations.append({ operationId, at, ...eventOfAction(outcome) })
        const transactions = yield* recordedTransactions(gas, { chainId, carried: "user_operation", receipts })
        const ended = resultOfAction({ chainId, outcome, failure, transactions })
        yield* store.finish({ operationId, at, ...end, ended })
      })
    )

  const abandon = Effect.flatMap(DateTime.now, (at) =>
    store.finish({
      operationId,
      at,
      error: "internal error; quote the operation id in a report, and check the positions before you retry",
      outcome: null
    })
  )

  /** Not part of the answer: the operation has ended. */
  const valueAfter = ({ portfolioId }: StoredAction) =>
    Activity.make({ name: "value", execute: Effect.asVoid(valuer.value(portfolioId)) })

  const body = Effect.gen(function* () {
    const action = yield* load
    const { accountId, chainId } = action.order
    const end = yield* chain.carryOut({
      operationId,
      chainId,
      steps: swapSteps,
      turn: "inTurn",
      rebalanced: action.portfolioId,
      waits: (reason) => ({ kind: "action_waits", payload: { reason } }),
      prepare: (attempt) => Effect.flatMap(load, (current) => prepareAction(current, attempt)),
      carry: (attempt, { prepared }) =>
        relay.carry(attempt, prepared, (transaction) => actions.find(transaction, accountId)),
      complete: ({ receipt, receipts, step }) =>
        Effect.asSome(finish(action, { error: null, outcome: withSwap({ chainId, receipt }, step.swap) }, receipts))
    })
    if (end._tag === "Completed") return yield* valueAfter(action)
    yield* finish(action, { ...whyUnmade(end), outcome: null }, failedReceipts(end.setbacks))
  })

  return runOperation(
    operations,
    { operationId, complaint: "An action failed by a fault of the service", abandon },
    body
  )
}
