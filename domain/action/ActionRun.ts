/**
 * What an action does: begin, prepare until it passes simulation, carry, finish.
 *
 * The relay puts each prepared operation on the chain at most once. An operation that failed may still be carried by
 * anyone who has seen it. The next one is made first, and then the chain is read for those before: as long as none of
 * them counts, the next has their nonce, and of all only one can count.
 */
import { Context, DateTime, Duration, Effect, Layer, Option, Schema } from "effect"
import { ClusterSchema } from "effect/cluster"
import { Activity, DurableClock } from "effect/workflow"
import { lifeOfCalls } from "#domain/action/CallsOrder.ts"
import { type StoredAction, ActionStore } from "#domain/action/ActionStore.ts"
import { OperationMarks } from "#domain/relay/OperationMarks.ts"
import { SwapPreparer, SwapStep } from "#domain/action/SwapPreparer.ts"
import type { ActionOutcome } from "#domain/action/ActionOrder.ts"
import { type ActionFacts, eventOfAction, resultOfAction } from "#domain/action/resultOfAction.ts"
import { CallsPreparer } from "#domain/action/CallsPreparer.ts"
import {
  findLanded,
  isRevert,
  revertOf,
  revertedCalls,
  type SentBefore,
  unrecordedSwap,
  withSwap
} from "#domain/action/earlierAttempts.ts"
import type { ChainId } from "#domain/values/Caip.ts"
import type { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import type { OperationId } from "#domain/values/Ids.ts"
import type { InWorkflow } from "#domain/operation/InWorkflow.ts"
import type { OperationReport } from "#domain/operation/OperationResult.ts"
import { AccountQueue } from "#domain/operation/AccountQueue.ts"
import { inAccountTurn, InLine, lineDelay } from "#domain/operation/inAccountTurn.ts"
import { cancelledError } from "#domain/operation/CancelRequested.ts"
import { OperationStore } from "#domain/operation/OperationStore.ts"
import { failOnDefect } from "#domain/operation/failOnDefect.ts"
import { PortfolioValuer } from "#domain/performance/PortfolioValuer.ts"
import { CarriedActions } from "#domain/relay/CarriedActions.ts"
import { GasBudget } from "#domain/relay/GasBudget.ts"
import { prepareUnlessCarried } from "#domain/relay/prepareUnlessCarried.ts"
import { recordedTransactions } from "#domain/relay/recordedTransactions.ts"
import { type ActionReceipt, carriedAlone, toSign } from "#domain/relay/Transaction.ts"
import { RelayStore } from "#domain/relay/RelayStore.ts"
import { TransactionRelay } from "#domain/relay/TransactionRelay.ts"

/** How often the chain may refuse or revert before that is final; nodes behind one endpoint may lag. */
const maxSetbacks = 3

const pendingReason = "what may carry the order out is on its way, or in a block that does not count yet"

/** One second at first, then up to fifteen. */
const waitFor = (round: number) => Duration.millis(Math.min(15_000, 1_000 * 2 ** Math.min(round - 1, 4)))

const SwapStepInTurn = Schema.Union([SwapStep, InLine])

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
        queue: yield* AccountQueue,
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
  readonly queue: AccountQueue["Service"]
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
  { actions, calls, gas, marks, operations, preparer, queue, relay, relays, store, valuer }: Services,
  operationId: OperationId
) => {
  const landed = findLanded(relays, actions)
  const inTurn = inAccountTurn({ operations, queue })
  const load = Effect.orDie(Effect.flatMap(store.find(operationId), Effect.fromOption))

  const enter = Effect.fnUntraced(function* (state: "running" | "retrying") {
    return yield* operations.transition({ operationId, to: state, at: yield* DateTime.now, error: null })
  })

  const begin = Activity.make({ name: "begin", execute: Effect.asVoid(enter("running")) }).annotate(
    ClusterSchema.WithTransaction,
    true
  )

  const appendStep = Effect.fnUntraced(function* (step: SwapStep) {
    if (step._tag === "Ready") yield* enter("running")
    if (step._tag !== "Waiting" && step._tag !== "Refused") return
    if (yield* enter("retrying"))
      yield* operations.append({
        operationId,
        at: yield* DateTime.now,
        kind: "action_waits",
        payload: { reason: step.reason }
      })
  })

  const next = Effect.fnUntraced(function* (action: StoredAction, round: number): Effect.fn.Return<SwapStep> {
    const { order, submittedAt } = action
    if (order._tag === "Swap") return yield* preparer.next({ ...action, order }, round === 1)
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
  const nextUnlessCarried = (action: StoredAction, round: number) =>
    prepareUnlessCarried(marks, {
      chainId: action.order.chainId,
      operationId,
      since: action.submittedAt,
      accountOf: () => Effect.succeedSome(action.order.accountId),
      prepare: next(action, round),
      toSign: (step) => (step._tag === "Ready" ? toSign(step.prepared) : undefined)
    })

  /** What is refused while a rebalance of the portfolio runs may be possible when it has ended. */
  const check = Effect.fnUntraced(function* (
    round: number,
    before: SentBefore
  ): Effect.fn.Return<SwapStep, ChainUnavailable> {
    const action = yield* load
    const isRebalancing = yield* operations.isRebalancing(action.portfolioId)
    const closed = revertedCalls(action, before)
    const shown = closed ?? (yield* nextUnlessCarried(action, round))
    const recorded = yield* landed(action, before.carried)
    if (Option.isSome(recorded)) return recorded.value
    if (shown._tag === "Closed") return shown
    if (shown._tag === "Unasked") return yield* shown.error
    if (shown._tag === "Pending") return { _tag: "Waiting", reason: pendingReason }
    if (shown._tag === "Carried") return withSwap({ _tag: "Landed", receipt: shown.receipt }, unrecordedSwap(action))
    const step = shown.made
    if (step._tag !== "Waiting" && step._tag !== "Refused") return step
    // What is ready goes on to be signed, where the same is checked.
    if (yield* operations.isCancelRequested(operationId)) return { _tag: "Cancelled" }
    if (step._tag !== "Refused" || !isRebalancing) return step
    return { _tag: "Waiting", reason: `a rebalance of the portfolio is running: ${step.reason}` }
  })

  const prepare = (round: number, chainId: ChainId, before: SentBefore) =>
    Activity.make({
      name: `prepare/${round}`,
      success: SwapStepInTurn,
      execute: inTurn(
        { request: { operationId, chainId }, isToBeSigned: ({ _tag }) => _tag === "Ready" },
        check(round, before).pipe(
          Effect.catch(({ message }) => Effect.succeed<SwapStep>({ _tag: "Waiting", reason: message })),
          Effect.tap(appendStep)
        )
      )
    })

  const reportOf = (end: Omit<ActionFacts, "transactions">, receipts: ReadonlyArray<ActionReceipt>) =>
    Effect.map(
      recordedTransactions(gas, { chainId: end.chainId, carried: "user_operation", receipts }),
      (transactions) => resultOfAction({ ...end, transactions })
    )

  const complete = (outcome: ActionOutcome, receipts: ReadonlyArray<ActionReceipt>) =>
    Activity.make({
      name: "finish",
      execute: Effect.gen(function* () {
        const at = yield* DateTime.now
        yield* operations.append({ operationId, at, ...eventOfAction(outcome) })
        const ended = yield* reportOf({ chainId: outcome.chainId, outcome, failure: null }, receipts)
        yield* store.finish({ operationId, at, error: null, outcome, ended })
      })
    }).annotate(ClusterSchema.WithTransaction, true)

  const fail = (
    name: "fail" | "cancel" | "abandon",
    error: string,
    report: Effect.Effect<OperationReport | undefined>
  ) =>
    Activity.make({
      name,
      execute: Effect.gen(function* () {
        const ended = yield* report
        const end = { operationId, at: yield* DateTime.now, error, isCancelled: name === "cancel", outcome: null }
        yield* store.finish(ended === undefined ? end : { ...end, ended })
      })
    }).annotate(ClusterSchema.WithTransaction, true)

  /** Not part of the answer: the operation has ended. */
  const valueAfter = ({ portfolioId }: StoredAction) =>
    Activity.make({ name: "value", execute: Effect.asVoid(valuer.value(portfolioId)) })

  const carry = ({ prepared }: Ready, attempt: number) =>
    relay.carry({ operationId, chainId: prepared.chainId, attempt }, prepared, (transaction) =>
      actions.find(transaction, prepared.accountId)
    )

  const run = Effect.gen(function* () {
    yield* begin
    const action = yield* load
    let setback = ""
    let again: Ready | undefined
    let carried: SentBefore["carried"] = []
    const receipts: Array<ActionReceipt> = []
    const refuse = (reason: string, name: "fail" | "cancel" = "fail") => {
      return fail(name, reason, reportOf({ chainId: action.order.chainId, outcome: null, failure: reason }, receipts))
    }
    for (let round = 1, setbacks = 0; setbacks < maxSetbacks; round++) {
      const step = again ?? (yield* prepare(round, action.order.chainId, { carried, setback }))
      if (step._tag === "InLine") {
        if (step.isCancelled) return yield* refuse(cancelledError, "cancel")
        yield* DurableClock.sleep({ name: `line/${round}`, duration: lineDelay(step) })
        continue
      }
      if (step._tag === "Cancelled") return yield* refuse(cancelledError, "cancel")
      if (step._tag === "Closed") return yield* refuse(step.reason)
      if (step._tag === "Landed") {
        yield* complete(withSwap({ chainId: action.order.chainId, receipt: step.receipt }, step.swap), [
          ...receipts,
          step.receipt
        ])
        return yield* valueAfter(action)
      }
      if (step._tag === "Ready") {
        const ended = yield* carry(step, round)
        if (Option.isNone(ended)) return yield* refuse(cancelledError, "cancel")
        const receipt = ended.value
        receipts.push(receipt)
        if (receipt.success) {
          yield* complete(withSwap({ chainId: step.prepared.chainId, receipt }, step.swap), receipts)
          return yield* valueAfter(action)
        }
        carried = [...carried, { attempt: round, swap: step.swap, isReverted: isRevert(receipt) }]
        // A bundle that another operation reverted is no attempt: the same goes again, since anyone may still carry it.
        again = receipt.isBundleReverted === true ? alone(step) : undefined
        if (again !== undefined) continue
        setback = revertOf(receipt)
      } else setback = step.reason
      if (step._tag !== "Waiting") setbacks += 1
      if (setbacks < maxSetbacks) yield* DurableClock.sleep({ name: `wait/${round}`, duration: waitFor(round) })
    }
    return yield* refuse(`${setback}; this operation moved nothing`)
  })

  return run.pipe(
    failOnDefect(
      "An action failed by a fault of the service",
      fail(
        "abandon",
        "internal error; quote the operation id in a report, and check the positions before you retry",
        Effect.succeed(undefined)
      )
    ),
    Effect.annotateLogs({ operationId })
  )
}

/** The same, for a transaction of its own. */
const alone = (step: Ready): Ready => ({ ...step, prepared: carriedAlone(step.prepared) })
