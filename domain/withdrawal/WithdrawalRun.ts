/**
 * What a withdrawal does: begin, prepare until it passes simulation, carry, verify, finish.
 *
 * The chain carries an authorization out once, from any sender, and not after it expired. So every step may be
 * repeated, and the operation ends as failed only when the chain shows that nothing moved, or when it refuses for good.
 */
import { Context, DateTime, Duration, Effect, Layer, Metric, Option, Schema } from "effect"
import { ClusterSchema } from "effect/cluster"
import { Activity, DurableClock } from "effect/workflow"
import { chainIdOf, HeldAssetId } from "#domain/values/Caip.ts"
import type { OperationId } from "#domain/values/Ids.ts"
import * as Metrics from "#domain/effects/Metrics.ts"
import type { InWorkflow } from "#domain/operation/InWorkflow.ts"
import { AccountQueue } from "#domain/operation/AccountQueue.ts"
import { inAccountTurn, InLine, lineDelay } from "#domain/operation/inAccountTurn.ts"
import { cancelledError } from "#domain/operation/CancelRequested.ts"
import { OperationStore } from "#domain/operation/OperationStore.ts"
import { PortfolioValuer } from "#domain/performance/PortfolioValuer.ts"
import type { ActionReceipt } from "#domain/relay/Transaction.ts"
import { WithdrawalExecution } from "#domain/withdrawal/WithdrawalExecution.ts"
import { WithdrawalPreparer, WithdrawalStep } from "#domain/withdrawal/WithdrawalPreparer.ts"
import { type StoredWithdrawal, type WithdrawalEnd, WithdrawalStore } from "#domain/withdrawal/WithdrawalStore.ts"
import { GasBudget } from "#domain/relay/GasBudget.ts"
import { recordedTransactions } from "#domain/relay/recordedTransactions.ts"
import { resultOfWithdrawal, type WithdrawalFacts } from "#domain/withdrawal/resultOfWithdrawal.ts"
import { failOnDefect } from "#domain/operation/failOnDefect.ts"
import { TransactionRelay } from "#domain/relay/TransactionRelay.ts"
import { withdrawalOutcome } from "#domain/withdrawal/withdrawalOutcome.ts"

/** How often the chain may refuse or revert before that is final; nodes behind one endpoint may lag. */
const maxSetbacks = 3

/** Polls of a receipt before the state of the withdrawal is read again; ten minutes. */
const maxChecks = 40

/** One second at first, then up to fifteen. */
const waitFor = (round: number) => Duration.millis(Math.min(15_000, 1_000 * 2 ** Math.min(round - 1, 4)))

const Delivered = Schema.Array(Schema.Struct({ assetId: HeldAssetId, raw: Schema.BigIntFromString }))
const WithdrawalStepInTurn = Schema.Union([WithdrawalStep, InLine])
const MaybeDelivered = Schema.NullOr(Delivered)

/**
 * The workflow of a withdrawal.
 *
 * **When to use**
 *
 * Use as the body that the engine runs for operations of kind `withdraw`. They are accepted by `Withdrawals`.
 */
export class WithdrawalRun extends Context.Service<
  WithdrawalRun,
  {
    /** The body of the workflow. */
    readonly execute: (operationId: OperationId) => Effect.Effect<void, never, InWorkflow>
  }
>()("ballast/domain/withdrawal/WithdrawalRun") {
  static readonly layer = Layer.effect(
    WithdrawalRun,
    Effect.gen(function* () {
      const services = {
        operations: yield* OperationStore,
        queue: yield* AccountQueue,
        store: yield* WithdrawalStore,
        preparer: yield* WithdrawalPreparer,
        execution: yield* WithdrawalExecution,
        relay: yield* TransactionRelay,
        valuer: yield* PortfolioValuer,
        gas: yield* GasBudget
      }
      return WithdrawalRun.of({ execute: (operationId) => makeExecute(services, operationId) })
    })
  )
}

interface Services {
  readonly operations: OperationStore["Service"]
  readonly queue: AccountQueue["Service"]
  readonly store: WithdrawalStore["Service"]
  readonly preparer: WithdrawalPreparer["Service"]
  readonly execution: WithdrawalExecution["Service"]
  readonly relay: TransactionRelay["Service"]
  readonly valuer: PortfolioValuer["Service"]
  readonly gas: GasBudget["Service"]
}

const makeExecute = (services: Services, operationId: OperationId) => {
  const { execution, gas, operations, preparer, queue, relay, store, valuer } = services

  /** Of every attempt of this run, in order. */
  const receipts: Array<ActionReceipt> = []

  /** What is stored never changes, so it is read at each replay. */
  const withdrawalOf = Effect.orDie(Effect.flatMap(store.find(operationId), Effect.fromOption))

  const enter = Effect.fnUntraced(function* (state: "running" | "retrying") {
    return yield* operations.transition({ operationId, to: state, at: yield* DateTime.now, error: null })
  })

  const append = Effect.fnUntraced(function* (kind: string, payload: unknown) {
    yield* operations.append({ operationId, at: yield* DateTime.now, kind, payload })
  })

  const begin = Activity.make({ name: "begin", execute: Effect.asVoid(enter("running")) }).annotate(
    ClusterSchema.WithTransaction,
    true
  )

  /** Records once, when the waiting begins, what is waited for. */
  const appendStep = Effect.fnUntraced(function* (step: WithdrawalStep) {
    if (step._tag === "Ready") yield* enter("running")
    if (step._tag !== "Waiting" && step._tag !== "Refused") return
    if (yield* enter("retrying")) yield* append("withdrawal_waits", { reason: step.reason })
  })

  /** What is ready goes on to be signed, where the same is checked. */
  const unlessCancelled = Effect.fnUntraced(function* (step: WithdrawalStep) {
    if (step._tag !== "Waiting" && step._tag !== "Refused") return step
    return (yield* operations.isCancelRequested(operationId)) ? ({ _tag: "Cancelled" } satisfies WithdrawalStep) : step
  })

  const next = (withdrawal: StoredWithdrawal) =>
    preparer.next(withdrawal).pipe(
      Effect.flatMap(unlessCancelled),
      Effect.tap(appendStep),
      // What leaves is priced at the moment at which it leaves.
      Effect.tap((step) => (step._tag === "Ready" ? valuer.value(withdrawal.message.portfolioId) : Effect.void))
    )

  /**
   * The owner's word waits for no one; where the agent sells for it, it goes before all that wait for the account.
   */
  const prepare = (withdrawal: StoredWithdrawal, round: number) =>
    Activity.make({
      name: `prepare/${round}`,
      success: WithdrawalStepInTurn,
      execute:
        withdrawal.message.liquidate === true
          ? inAccountTurn({ operations, queue })(
              {
                request: { operationId, chainId: chainIdOf(withdrawal.accountId), isUrgent: true },
                isToBeSigned: ({ _tag }) => _tag === "Ready"
              },
              next(withdrawal)
            )
          : next(withdrawal)
    })

  const sleep = (name: string, round: number) =>
    DurableClock.sleep({ name: `${name}/${round}`, duration: waitFor(round) })

  const read = (withdrawal: StoredWithdrawal, receipt: ActionReceipt, name: string) =>
    Activity.make({
      name: `verify/${name}`,
      success: MaybeDelivered,
      execute: execution.delivered(withdrawal, receipt).pipe(
        Effect.tapError(() => enter("retrying")),
        Effect.orElseSucceed(() => null)
      )
    })

  /** Null when the chain does not show the receipt for long: it may have dropped the block that held it. */
  const verify = Effect.fnUntraced(function* (withdrawal: StoredWithdrawal, receipt: ActionReceipt, round: number) {
    for (let check = 1; check <= maxChecks; check++) {
      const delivered = yield* read(withdrawal, receipt, `${round}/${check}`)
      if (delivered !== null) return delivered
      yield* sleep(`read/${round}`, check)
    }
    return null
  })

  const reportOf = (
    withdrawal: StoredWithdrawal,
    end: Omit<WithdrawalFacts, "message" | "chainId" | "transactions">
  ) => {
    const chainId = chainIdOf(withdrawal.accountId)
    return Effect.map(recordedTransactions(gas, { chainId, carried: "withdrawal", receipts }), (transactions) =>
      resultOfWithdrawal({ ...end, message: withdrawal.message, chainId, transactions })
    )
  }

  const complete = (withdrawal: StoredWithdrawal, receipt: ActionReceipt, delivered: typeof Delivered.Type) =>
    Activity.make({
      name: "finish",
      execute: Effect.gen(function* () {
        const outcome = withdrawalOutcome(withdrawal.message, receipt, delivered)
        yield* append("withdrawn", outcome)
        const ended = yield* reportOf(withdrawal, { deltas: receipt.deltas, delivered, failure: null })
        yield* store.finish({ operationId, at: yield* DateTime.now, error: null, outcome, ended })
        yield* Metric.update(Metric.withAttributes(Metrics.withdrawals, { outcome: "completed" }), 1)
      })
    }).annotate(ClusterSchema.WithTransaction, true)

  /** Not part of the answer: the operation has ended. */
  const valueAfter = ({ message: { portfolioId } }: StoredWithdrawal) =>
    Activity.make({ name: "value", execute: Effect.asVoid(valuer.value(portfolioId)) })

  const ended = (
    name: "fail" | "cancel" | "abandon",
    end: Effect.Effect<Omit<WithdrawalEnd, "operationId" | "at" | "outcome">>
  ) =>
    Activity.make({
      name,
      execute: Effect.gen(function* () {
        yield* store.finish({ operationId, at: yield* DateTime.now, outcome: null, ...(yield* end) })
        yield* Metric.update(
          Metric.withAttributes(Metrics.withdrawals, { outcome: name === "cancel" ? "cancelled" : "failed" }),
          1
        )
      })
    }).annotate(ClusterSchema.WithTransaction, true)

  const fail = (withdrawal: StoredWithdrawal, error: string) =>
    ended(
      "fail",
      Effect.map(reportOf(withdrawal, { deltas: [], delivered: [], failure: error }), (report) => ({
        error,
        ended: report
      }))
    )

  const cancel = (withdrawal: StoredWithdrawal) =>
    ended(
      "cancel",
      Effect.map(reportOf(withdrawal, { deltas: [], delivered: [], failure: cancelledError }), (report) => ({
        error: cancelledError,
        isCancelled: true,
        ended: report
      }))
    )

  const carry = (withdrawal: StoredWithdrawal, round: number, step: Extract<WithdrawalStep, { _tag: "Ready" }>) =>
    relay.carry(
      { operationId, chainId: chainIdOf(withdrawal.accountId), attempt: round },
      step.prepared,
      (transaction) => execution.find(transaction, withdrawal)
    )

  const run = Effect.gen(function* () {
    receipts.length = 0
    yield* begin
    const withdrawal = yield* withdrawalOf
    let setback: Option.Option<string> = Option.none()
    // A transaction that was included and reverted was paid for, although its simulation had passed: none follows it.
    let reverted: string | undefined
    for (let round = 1, setbacks = 0; setbacks < maxSetbacks; round++) {
      const step = yield* prepare(withdrawal, round)
      if (step._tag === "InLine") {
        if (step.isCancelled) return yield* cancel(withdrawal)
        yield* DurableClock.sleep({ name: `line/${round}`, duration: lineDelay(step) })
        continue
      }
      if (step._tag === "Cancelled") return yield* cancel(withdrawal)
      if (step._tag === "Closed") return yield* fail(withdrawal, step.reason)
      if (reverted !== undefined && (step._tag === "Ready" || step._tag === "Refused")) {
        return yield* fail(withdrawal, `${reverted}; this operation moved nothing`)
      }
      if (step._tag === "Landed" || step._tag === "Ready") {
        const carried = step._tag === "Landed" ? Option.some(step.receipt) : yield* carry(withdrawal, round, step)
        if (Option.isNone(carried)) return yield* cancel(withdrawal)
        const receipt = carried.value
        receipts.push(receipt)
        const delivered = receipt.success ? yield* verify(withdrawal, receipt, round) : null
        if (delivered !== null) {
          yield* complete(withdrawal, receipt, delivered)
          return yield* valueAfter(withdrawal)
        }
        if (!receipt.success) {
          setbacks += 1
          const reason = `the withdrawal was reverted in ${receipt.txHash}`
          setback = Option.some(reason)
          if (receipt.blockHash !== null) reverted = reason
        }
        continue
      }
      if (step._tag === "Refused") {
        setbacks += 1
        setback = Option.some(step.reason)
      }
      if (setbacks < maxSetbacks) yield* sleep("wait", round)
    }
    return yield* fail(withdrawal, `${Option.getOrThrow(setback)}; this operation moved nothing`)
  })

  return run.pipe(
    failOnDefect(
      "A withdrawal failed by a fault of the service",
      ended(
        "abandon",
        Effect.succeed({
          error: "internal error; quote the operation id in a report, and check the positions before you retry"
        })
      )
    ),
    Effect.annotateLogs({ operationId })
  )
}
