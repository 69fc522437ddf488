/**
 * What an action does: begin, carry the order out, finish.
 *
 * An operation that failed may still be carried by anyone who has seen it. The next one is made first, and then the
 * chain is read for those before: as long as none of them counts, the next has their nonce, and of all only one can
 * count.
 */
import { Context, DateTime, Effect, Layer, Option } from "effect"
import { Activity } from "effect/workflow"
import { lifeOfCalls } from "#domain/action/CallsOrder.ts"
import { type ActionEnd, ActionStore, type StoredAction } from "#domain/action/ActionStore.ts"
import { SwapPreparer, type SwapStep, swapSteps } from "#domain/action/SwapPreparer.ts"
import { eventOfAction, resultOfAction } from "#domain/action/resultOfAction.ts"
import { CallsPreparer } from "#domain/action/CallsPreparer.ts"
import { findLanded, revertedCalls, unrecordedSwap, withSwap } from "#domain/action/earlierAttempts.ts"
import type { OperationId } from "#domain/values/Ids.ts"
import type { InWorkflow } from "#domain/operation/InWorkflow.ts"
import { OperationStore } from "#domain/operation/OperationStore.ts"
import { lastStep, runOperation } from "#domain/operation/runSteps.ts"
import { PortfolioValuer } from "#domain/performance/PortfolioValuer.ts"
import { CarriedActions } from "#domain/relay/CarriedActions.ts"
import { ChainAction, whyUnmade, type NextAttempt, failedReceipts } from "#domain/relay/ChainAction.ts"
import { GasBudget } from "#domain/relay/GasBudget.ts"
import { OperationMarks } from "#domain/relay/OperationMarks.ts"
import { prepareUnlessCarried } from "#domain/relay/prepareUnlessCarried.ts"
import { recordedTransactions } from "#domain/relay/recordedTransactions.ts"
import { type ActionReceipt, toSign } from "#domain/relay/Transaction.ts"
import { RelayStore } from "#domain/relay/RelayStore.ts"
import { TransactionRelay } from "#domain/relay/TransactionRelay.ts"

const pendingReason = "what may carry the order out is on its way, or in a block that does not count yet"

type Ready = Extract<SwapStep, { readonly _tag: "Ready" }>

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
        preparer: yield* SwapPreparer,
        calls: yield* CallsPreparer,
        actions: yield* CarriedActions,
        relays: yield* RelayStore,
        relay: yield* TransactionRelay,
        valuer: yield* PortfolioValuer,
        gas: yield* GasBudget,
        marks: yield* OperationMarks
      }
      return ActionRun.of({ execute: (operationId) => makeExecute(services, operationId) })
    })
  )
}

interface Services {
  readonly operations: OperationStore["Service"]
  readonly chain: ChainAction["Service"]
  readonly store: ActionStore["Service"]
  readonly preparer: SwapPreparer["Service"]
  readonly calls: CallsPreparer["Service"]
  readonly actions: CarriedActions["Service"]
  readonly relays: RelayStore["Service"]
  readonly relay: TransactionRelay["Service"]
  readonly valuer: PortfolioValuer["Service"]
  readonly gas: GasBudget["Service"]
  readonly marks: OperationMarks["Service"]
}

const makeExecute = (
  { actions, calls, chain, gas, marks, operations, preparer, relay, relays, store, valuer }: Services,
  operationId: OperationId
) => {
  const landed = findLanded(relays, actions)
  const load = Effect.orDie(Effect.flatMap(store.find(operationId), Effect.fromOption))

  const next = Effect.fnUntraced(function* (action: StoredAction, isFirst: boolean): Effect.fn.Return<SwapStep> {
    const { order, submittedAt } = action
    if (order._tag === "Swap") return yield* preparer.next({ ...action, order }, isFirst)
    if (DateTime.isGreaterThan(yield* DateTime.now, DateTime.add(submittedAt, lifeOfCalls)))
      return { _tag: "Closed", reason: "the calls were not possible within two hours; ask for them anew" }
    return yield* calls.prepare(action, order, operationId).pipe(
      Effect.map((prepared): SwapStep => ({ _tag: "Ready", prepared })),
      Effect.catchTags({
        ChainUnavailable: ({ message }) => Effect.succeed<SwapStep>({ _tag: "Waiting", reason: message }),
        SimulationFailed: ({ reason }) => Effect.succeed<SwapStep>({ _tag: "Refused", reason })
      })
    )
  })

  /** The next operation, and whether one that has no record has carried the order out. */
  const nextUnlessCarried = (action: StoredAction, isFirst: boolean) =>
    prepareUnlessCarried(marks, {
      chainId: action.order.chainId,
      operationId,
      since: action.submittedAt,
      accountOf: () => Effect.succeedSome(action.order.accountId),
      prepare: next(action, isFirst),
      toSign: (step) => (step._tag === "Ready" ? toSign(step.prepared) : undefined)
    })

  const prepare = Effect.fnUntraced(
    function* ({ attempt, setbacks }: NextAttempt<Ready>) {
      const action = yield* load
      const shown = revertedCalls(action, setbacks) ?? (yield* nextUnlessCarried(action, attempt === 1))
      const recorded = yield* landed(action, setbacks)
      if (Option.isSome(recorded)) return recorded.value
      switch (shown._tag) {
        case "Closed":
          return shown
        case "Unasked":
          return yield* shown.error
        case "Pending":
          return { _tag: "Pending", reason: pendingReason } satisfies SwapStep
        case "Carried":
          return withSwap({ _tag: "Landed" as const, receipt: shown.receipt }, unrecordedSwap(action))
        case "Prepared":
          return shown.made
      }
    },
    // What cannot be asked may have been carried out.
    Effect.catch(({ message }) => Effect.succeed<SwapStep>({ _tag: "Pending", reason: message }))
  )

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
      prepare,
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
