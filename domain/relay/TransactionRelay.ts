/**
 * Puts a prepared transaction on its chain exactly once, whatever crashes in between: `sign` (nonce, bytes and the
 * attempts that they include are stored in one commit), `confirm` (send the stored bytes until the chain shows what
 * became of them, and record that) and `replace` (offer more for the transaction that the chain waits for, or take it
 * back when it may not cost that much).
 */
import { Context, DateTime, Effect, Layer, Metric, Option, Schema } from "effect"
import { Activity, DurableClock } from "effect/workflow"
import * as Metrics from "#domain/effects/Metrics.ts"
import type { InWorkflow } from "#domain/operation/InWorkflow.ts"
import { OperationStore } from "#domain/operation/OperationStore.ts"
import { Repeatable } from "#domain/operation/Repeatable.ts"
import { Relayer } from "#domain/relay/Relayer.ts"
import { type AttemptId, RelayStore } from "#domain/relay/RelayStore.ts"
import {
  ActionReceipt,
  relayedAlone,
  isParts,
  type PreparedAction,
  type PreparedTransaction
} from "#domain/relay/Transaction.ts"
import { RelayTiming } from "#domain/relay/RelayTiming.ts"
import { makeSubmitParts } from "#domain/relay/submitParts.ts"
import { PartRelay } from "#domain/relay/PartRelay.ts"
import { awaitReceipt, type FindReceipt } from "#domain/relay/awaitReceipt.ts"
import { BundleSigner } from "#domain/relay/BundleSigner.ts"
import { replaceStuckTransaction } from "#domain/relay/replaceStuckTransaction.ts"
import { spansAreAbout } from "#domain/effects/spanAttributes.ts"

/**
 * A run stores of the signature only that there is one; the bytes are read from the relay's store, where they may have
 * been replaced.
 */
const Signed = Schema.Struct({
  /** There is none and never will be: the operation is to be cancelled. */
  isCancelled: Schema.optionalKey(Schema.Boolean)
})

const MaybeSigned = Schema.NullOr(Signed)

/** A run that was not signed sleeps, and begins behind that when it wakes. */
const signedOnce = Context.make(Repeatable, (signed) => signed !== null)

const MaybeFound = Schema.NullOr(ActionReceipt)

/** An attempt that is to be submitted. */
export interface RelayAttempt extends AttemptId {
  /** It goes in a transaction of its own, also where it could go with actions of others. */
  readonly isAlone?: boolean
}

/**
 * Puts a prepared action on its chain, exactly once.
 *
 * **When to use**
 *
 * Use in every workflow that sends something to a chain. There is no other way to send.
 *
 * **Details**
 *
 * `find` returns what became of a transaction, in the types of the caller's context. It is called until it answers.
 */
export class TransactionRelay extends Context.Service<
  TransactionRelay,
  {
    /**
     * The receipt, once the chain has decided, of parts once all of them are decided; none when the operation is to be
     * cancelled and this was not signed: it never will be then. Must run inside a workflow; the attempt names the
     * activities.
     */
    readonly submit: (
      attempt: RelayAttempt,
      prepared: PreparedAction,
      find: FindReceipt
    ) => Effect.Effect<Option.Option<ActionReceipt>, never, InWorkflow>
  }
>()("ballast/domain/relay/TransactionRelay") {
  static readonly layer = Layer.effect(
    TransactionRelay,
    Effect.gen(function* () {
      return TransactionRelay.of({
        submit: makeSubmit({
          operations: yield* OperationStore,
          store: yield* RelayStore,
          signer: yield* BundleSigner,
          relayer: yield* Relayer,
          partRelay: yield* PartRelay,
          timing: yield* RelayTiming
        })
      })
    })
  ).pipe(Layer.provide(BundleSigner.layer))
}

interface Services {
  readonly operations: OperationStore["Service"]
  readonly store: RelayStore["Service"]
  readonly signer: BundleSigner["Service"]
  readonly relayer: Relayer["Service"]
  readonly partRelay: typeof PartRelay.Service
  readonly timing: typeof RelayTiming.Service
}

const makeSubmit = ({ operations, store, signer, relayer, partRelay, timing }: Services) => {
  const submitParts = makeSubmitParts({ operations, store, partRelay, timing })

  /**
   * None when the key gave no signature; the nonce is free again then. What is signed is stored with its transaction;
   * repeated after a crash, the step finds it.
   */
  const trySign = (attempt: AttemptId, prepared: PreparedTransaction, round: number) =>
    Activity.make({
      name:
        round === 1
          ? `sign/${attempt.chainId}/${attempt.attempt}`
          : `sign/${attempt.chainId}/${attempt.attempt}/${round}`,
      success: MaybeSigned,
      annotations: signedOnce,
      execute: signer.sign({ attempt, prepared }).pipe(
        Effect.as({}),
        Effect.catchTag("CancelRequested", () => Effect.succeed({ isCancelled: true })),
        Effect.catch(({ message }) =>
          Effect.gen(function* () {
            yield* Effect.logWarning(message)
            yield* operations.transition({
              operationId: attempt.operationId,
              to: "retrying",
              at: yield* DateTime.now,
              error: null
            })
            return null
          })
        )
      )
    })

  /**
   * Repeated until there is a signature; false when there will be none. What was prepared may meanwhile have become
   * too old; the chain refuses it then.
   */
  const sign = Effect.fnUntraced(function* (attempt: AttemptId, prepared: PreparedTransaction) {
    for (let round = 1; ; round++) {
      const signed = yield* trySign(attempt, prepared, round)
      if (signed !== null) return signed.isCancelled !== true
      yield* DurableClock.sleep({
        name: `signer/${attempt.chainId}/${attempt.attempt}/${round}`,
        duration: timing.searchInterval
      })
    }
  })

  /** Recording a receipt again changes nothing, so it needs no transaction with the step's own result. */
  const record = Effect.fnUntraced(function* (attempt: AttemptId, receipt: ActionReceipt) {
    yield* store.recordReceipt(attempt, receipt, yield* DateTime.now)
    const spent = Metric.withAttributes(Metrics.gasSpent, { chain: String(attempt.chainId) })
    yield* Metric.update(spent, Number(receipt.gasUsed))
  })

  const search = (attempt: AttemptId, round: number, find: FindReceipt) =>
    Activity.make({
      name: `confirm/${attempt.chainId}/${attempt.attempt}/${round}`,
      success: MaybeFound,
      execute: awaitReceipt({
        operations,
        store,
        relayer,
        attempt,
        find,
        isFirst: round === 1,
        searchFor: timing.searchFor
      }).pipe(
        Effect.flatMap((receipt) =>
          receipt === null ? Effect.succeed(null) : Effect.as(record(attempt, receipt), receipt)
        )
      )
    })

  /** Repeated after a crash it replaces nothing anew: what it has just stored is too young. */
  const replace = (attempt: AttemptId, round: number) =>
    Activity.make({
      name: `replace/${attempt.chainId}/${attempt.attempt}/${round}`,
      execute: Effect.gen(function* () {
        const { transaction } = yield* Effect.flatMap(store.sent(attempt), Effect.fromOption)
        const { holdFor, searchFor } = timing
        yield* replaceStuckTransaction({ operations, store, relayer, holdFor }, transaction, searchFor)
      }).pipe(
        Effect.catchTag("ChainUnavailable", ({ message }) => Effect.logWarning(message)),
        Effect.orDie
      )
    })

  /** What was signed may land at any later time, so it is searched until the chain has answered. */
  const confirm = Effect.fnUntraced(function* (attempt: AttemptId, find: FindReceipt) {
    for (let round = 1; ; round++) {
      const receipt = yield* search(attempt, round, find)
      if (receipt !== null) return receipt
      yield* replace(attempt, round)
      yield* DurableClock.sleep({
        name: `search/${attempt.chainId}/${attempt.attempt}/${round}`,
        duration: timing.searchInterval
      })
    }
  })

  const submit = Effect.fnUntraced(function* (
    { isAlone = false, ...attempt }: RelayAttempt,
    prepared: PreparedAction,
    find: FindReceipt
  ) {
    if (isParts(prepared)) return yield* submitParts(attempt, prepared)
    if (!(yield* sign(attempt, isAlone ? relayedAlone(prepared) : prepared))) return Option.none<ActionReceipt>()
    return Option.some(yield* confirm(attempt, find))
  })

  return (attempt: RelayAttempt, prepared: PreparedAction, find: FindReceipt) =>
    spansAreAbout({ operationId: attempt.operationId, chainId: attempt.chainId })(submit(attempt, prepared, find))
}
