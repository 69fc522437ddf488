/**
 * What a withdrawal does: begin, submit what the owner signed, verify what arrived, finish.
 *
 * The chain carries an authorization out once, from any sender, and not after it expired. So every step may be
 * repeated, and the operation ends as failed only when the chain shows that nothing moved, or when it refuses for good.
 */
import { Context, DateTime, Effect, Layer, Metric, Option, Schema } from "effect"
import { Activity, DurableClock } from "effect/workflow"
import { chainIdOf, HeldAssetId } from "#domain/values/Caip.ts"
import type { OperationId } from "#domain/values/Ids.ts"
import * as Metrics from "#domain/effects/Metrics.ts"
import type { InWorkflow } from "#domain/operation/InWorkflow.ts"
import { OperationStore } from "#domain/operation/OperationStore.ts"
import { enter, lastStep, runOperation } from "#domain/operation/runSteps.ts"
import { PortfolioValuer } from "#domain/performance/PortfolioValuer.ts"
import type { Setback } from "#domain/relay/ActionStep.ts"
import { ChainAction, whyUnmade, type Landed, pauseAfter, failedReceipts, revertOf } from "#domain/relay/ChainAction.ts"
import type { ActionReceipt } from "#domain/relay/Transaction.ts"
import { WithdrawalTransactions } from "#domain/withdrawal/WithdrawalTransactions.ts"
import { makePrepareWithdrawal, type WithdrawalStep, withdrawalSteps } from "#domain/withdrawal/prepareWithdrawal.ts"
import { type StoredWithdrawal, type WithdrawalEnd, WithdrawalStore } from "#domain/withdrawal/WithdrawalStore.ts"
import { GasBudget } from "#domain/relay/GasBudget.ts"
import { recordedTransactions } from "#domain/relay/recordedTransactions.ts"
import { resultOfWithdrawal, type WithdrawalFacts } from "#domain/withdrawal/resultOfWithdrawal.ts"
import { TransactionRelay } from "#domain/relay/TransactionRelay.ts"
import { withdrawalOutcome } from "#domain/withdrawal/withdrawalOutcome.ts"

/** Polls of a receipt before the state of the withdrawal is read again; ten minutes. */
const maxChecks = 40

const Delivered = Schema.Array(Schema.Struct({ assetId: HeldAssetId, raw: Schema.BigIntFromString }))
const MaybeDelivered = Schema.NullOr(Delivered)

type Ready = Extract<WithdrawalStep, { readonly _tag: "Ready" }>

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
        chain: yield* ChainAction,
        store: yield* WithdrawalStore,
        prepareWithdrawal: yield* makePrepareWithdrawal,
        execution: yield* WithdrawalTransactions,
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
  readonly chain: ChainAction["Service"]
  readonly store: WithdrawalStore["Service"]
  readonly prepareWithdrawal: Effect.Success<typeof makePrepareWithdrawal>
  readonly execution: WithdrawalTransactions["Service"]
  readonly relay: TransactionRelay["Service"]
  readonly valuer: PortfolioValuer["Service"]
  readonly gas: GasBudget["Service"]
}

const makeExecute = (services: Services, operationId: OperationId) => {
  const { chain, execution, gas, operations, prepareWithdrawal, relay, store, valuer } = services

  /** What is stored never changes, so it is read at each replay. */
  const withdrawalOf = Effect.orDie(Effect.flatMap(store.find(operationId), Effect.fromOption))

  const prepare = Effect.fnUntraced(function* (withdrawal: StoredWithdrawal, before: ReadonlyArray<Setback<Ready>>) {
    const step = yield* prepareWithdrawal(withdrawal)
    if (step._tag !== "Ready" && step._tag !== "Refused") return step
    const reverted = includedRevert(before)
    if (reverted !== undefined)
      return { _tag: "Closed", reason: `${revertOf(reverted)}; this operation moved nothing` } satisfies WithdrawalStep
    // What leaves is priced at the moment at which it leaves.
    if (step._tag === "Ready") yield* valuer.value(withdrawal.message.portfolioId)
    return step
  })

  const read = (withdrawal: StoredWithdrawal, receipt: ActionReceipt, name: string) =>
    Activity.make({
      name: `verify/${name}`,
      success: MaybeDelivered,
      execute: execution.delivered(withdrawal, receipt).pipe(
        Effect.tapError(() => enter(operations, operationId, "retrying")),
        Effect.orElseSucceed(() => null)
      )
    })

  /** None when the chain does not show the receipt for long: it may have dropped the block that held it. */
  const verify = Effect.fnUntraced(function* (withdrawal: StoredWithdrawal, receipt: ActionReceipt, attempt: number) {
    for (let check = 1; check <= maxChecks; check++) {
      const delivered = yield* read(withdrawal, receipt, `${attempt}/${check}`)
      if (delivered !== null) return Option.some(delivered)
      yield* DurableClock.sleep({ name: `read/${attempt}/${check}`, duration: pauseAfter(check) })
    }
    return Option.none()
  })

  /** The owner's authorization was carried out where the outcome is not null. */
  const finish = (
    { accountId, message }: StoredWithdrawal,
    facts: Pick<WithdrawalFacts, "deltas" | "delivered">,
    {
      receipts,
      ...end
    }: Omit<WithdrawalEnd, "operationId" | "at" | "ended"> & {
      readonly receipts: ReadonlyArray<ActionReceipt>
    }
  ) =>
    lastStep(
      "finish",
      Effect.gen(function* () {
        const at = yield* DateTime.now
        const chainId = chainIdOf(accountId)
        if (end.error === null) yield* operations.append({ operationId, at, kind: "withdrawn", payload: end.outcome })
        const transactions = yield* recordedTransactions(gas, { chainId, contents: "withdrawal", receipts })
        const ended = resultOfWithdrawal({ ...facts, message, chainId, transactions, failure: end.error })
        yield* store.finish({ operationId, at, ...end, ended })
        yield* count(end.error === null ? "completed" : end.isCancelled === true ? "cancelled" : "failed")
      })
    )

  const complete = Effect.fnUntraced(function* (
    withdrawal: StoredWithdrawal,
    { attempt, receipt, receipts }: Pick<Landed<never, never>, "attempt" | "receipt" | "receipts">
  ) {
    const found = yield* verify(withdrawal, receipt, attempt)
    if (Option.isNone(found)) return Option.none()
    const delivered = found.value
    const outcome = withdrawalOutcome(withdrawal.message, receipt, delivered)
    yield* finish(withdrawal, { deltas: receipt.deltas, delivered }, { error: null, outcome, receipts })
    return Option.some(undefined)
  })

  /** Not part of the answer: the operation has ended. */
  const valueAfter = ({ message: { portfolioId } }: StoredWithdrawal) =>
    Activity.make({ name: "value", execute: Effect.asVoid(valuer.value(portfolioId)) })

  const abandon = Effect.gen(function* () {
    const error = "internal error; quote the operation id in a report, and check the positions before you retry"
    yield* store.finish({ operationId, at: yield* DateTime.now, error, outcome: null })
    yield* count("failed")
  })

  const body = Effect.gen(function* () {
    const withdrawal = yield* withdrawalOf
    const { accountId, message } = withdrawal
    const end = yield* chain.execute({
      operationId,
      chainId: chainIdOf(accountId),
      steps: withdrawalSteps,
      // The owner's signature waits for no one; where the agent sells for it, it goes before all that wait for the
      // account.
      ...(message.liquidate === true ? { turn: "urgent" } : {}),
      rebalanced: message.portfolioId,
      waits: (reason) => ({ kind: "withdrawal_waits", payload: { reason } }),
      prepare: ({ setbacks }) => prepare(withdrawal, setbacks),
      submit: (attempt, { prepared }) =>
        relay.submit(attempt, prepared, (transaction) => execution.find(transaction, withdrawal)),
      complete: (landed) => complete(withdrawal, landed)
    })
    if (end._tag === "Completed") return yield* valueAfter(withdrawal)
    const moved = { deltas: [], delivered: [] }
    yield* finish(withdrawal, moved, { ...whyUnmade(end), outcome: null, receipts: failedReceipts(end.setbacks) })
  })

  return runOperation(
    operations,
    { operationId, complaint: "A withdrawal failed by a fault of the service", abandon },
    body
  )
}

const count = (outcome: "completed" | "cancelled" | "failed") =>
  Metric.update(Metric.withAttributes(Metrics.withdrawals, { outcome }), 1)

/** A transaction that was included and reverted was paid for, although its simulation had passed: none follows it. */
const includedRevert = (before: ReadonlyArray<Setback<Ready>>): ActionReceipt | undefined =>
  failedReceipts(before).find(({ blockHash, isBundleReverted }) => blockHash !== null && isBundleReverted !== true)
