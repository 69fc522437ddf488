/** What an action does: begin, carry the order out, finish. */
import { Context, DateTime, Effect, Layer } from "effect"
import { Activity } from "effect/workflow"
import { type OrderEnd, OrderStore, type StoredOrder } from "#domain/order/OrderStore.ts"
import { swapSteps } from "#domain/order/SwapPreparer.ts"
import { eventOfOrder, resultOfOrder } from "#domain/order/resultOfOrder.ts"
import { withSwap } from "#domain/order/earlierAttempts.ts"
import { makePrepareAction } from "#domain/order/prepareOrder.ts"
import type { OperationId } from "#domain/values/Ids.ts"
import type { InWorkflow } from "#domain/operation/InWorkflow.ts"
import { OperationStore } from "#domain/operation/OperationStore.ts"
import { lastStep, runOperation } from "#domain/operation/runSteps.ts"
import { PortfolioValuer } from "#domain/performance/PortfolioValuer.ts"
import { ActionReceipts } from "#domain/relay/ActionReceipts.ts"
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
 * Use as the body that the engine runs for operations of the kinds `swap` and `execute`. They are accepted by `Orders`
 * and `DirectExecutions`.
 */
export class OrderRun extends Context.Service<
  OrderRun,
  {
    /** The body of the workflow. */
    readonly execute: (operationId: OperationId) => Effect.Effect<void, never, InWorkflow>
  }
>()("ballast/domain/order/OrderRun") {
  static readonly layer = Layer.effect(
    OrderRun,
    Effect.gen(function* () {
      const services = {
        operations: yield* OperationStore,
        chain: yield* ChainAction,
        store: yield* OrderStore,
        prepareOrder: yield* makePrepareAction,
        actions: yield* ActionReceipts,
        relay: yield* TransactionRelay,
        valuer: yield* PortfolioValuer,
        gas: yield* GasBudget
      }
      return OrderRun.of({ execute: (operationId) => makeExecute(services, operationId) })
    })
  )
}

interface Services {
  readonly operations: OperationStore["Service"]
  readonly chain: ChainAction["Service"]
  readonly store: OrderStore["Service"]
  readonly prepareOrder: Effect.Success<typeof makePrepareAction>
  readonly actions: ActionReceipts["Service"]
  readonly relay: TransactionRelay["Service"]
  readonly valuer: PortfolioValuer["Service"]
  readonly gas: GasBudget["Service"]
}

const makeExecute = (
  { actions, chain, gas, operations, prepareOrder, relay, store, valuer }: Services,
  operationId: OperationId
) => {
  const load = Effect.orDie(Effect.flatMap(store.find(operationId), Effect.fromOption))

  /** Nothing moved where the outcome is null. */
  const finish = (
    { order: { chainId } }: StoredOrder,
    end: Pick<OrderEnd, "error" | "isCancelled" | "outcome">,
    receipts: ReadonlyArray<ActionReceipt>
  ) =>
    lastStep(
      "finish",
      Effect.gen(function* () {
        const at = yield* DateTime.now
        const { error: failure, outcome } = end
        if (outcome !== null) yield* operations.append({ operationId, at, ...eventOfOrder(outcome) })
        const transactions = yield* recordedTransactions(gas, { chainId, contents: "user_operation", receipts })
        const ended = resultOfOrder({ chainId, outcome, failure, transactions })
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
  const valueAfter = ({ portfolioId }: StoredOrder) =>
    Activity.make({ name: "value", execute: Effect.asVoid(valuer.value(portfolioId)) })

  const body = Effect.gen(function* () {
    const action = yield* load
    const { accountId, chainId } = action.order
    const end = yield* chain.execute({
      operationId,
      chainId,
      steps: swapSteps,
      turn: "inTurn",
      rebalanced: action.portfolioId,
      waits: (reason) => ({ kind: "action_waits", payload: { reason } }),
      prepare: (attempt) => Effect.flatMap(load, (current) => prepareOrder(current, attempt)),
      submit: (attempt, { prepared }) =>
        relay.submit(attempt, prepared, (transaction) => actions.find(transaction, accountId)),
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
