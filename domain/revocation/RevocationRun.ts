/**
 * What a revocation does: on each chain prepare until it passes simulation, and put the owner's operation there;
 * finish. A chain that does not answer is waited for, however long: the owner's signature does not expire.
 *
 * The chain carries the owner's operation out once, from any sender, so every step may be repeated.
 */
import { Context, DateTime, Duration, Effect, Layer } from "effect"
import { ClusterSchema } from "effect/cluster"
import { Activity, DurableClock } from "effect/workflow"
import type { ChainId } from "#domain/values/Caip.ts"
import type { ChainRevocation } from "#domain/account/Revocation.ts"
import type { OperationId } from "#domain/values/Ids.ts"
import type { InWorkflow } from "#domain/operation/InWorkflow.ts"
import { OperationStore } from "#domain/operation/OperationStore.ts"
import { RevocationExecution, type SignedRevocation } from "#domain/revocation/RevocationExecution.ts"
import { RevocationPreparer, RevocationStep } from "#domain/revocation/RevocationPreparer.ts"
import { RevocationStore } from "#domain/revocation/RevocationStore.ts"
import { emptyChain, type OperationReport, operationResult } from "#domain/operation/OperationResult.ts"
import { GasBudget } from "#domain/relay/GasBudget.ts"
import { recordedTransactions } from "#domain/relay/recordedTransactions.ts"
import type { ActionReceipt } from "#domain/relay/Transaction.ts"
import { failOnDefect } from "#domain/operation/failOnDefect.ts"
import { TransactionRelay } from "#domain/relay/TransactionRelay.ts"

/** How often a chain may refuse or revert before that is final; nodes behind one endpoint may lag. */
const maxSetbacks = 3

/** One second at first, then up to five minutes. */
const waitFor = (round: number) => Duration.seconds(Math.min(300, 2 ** Math.min(round - 1, 9)))

/**
 * The workflow of a revocation.
 *
 * **When to use**
 *
 * Use as the body that the engine runs for operations of kind `revoke`. They are accepted by `Revocations`.
 */
export class RevocationRun extends Context.Service<
  RevocationRun,
  {
    /** The body of the workflow. */
    readonly execute: (operationId: OperationId) => Effect.Effect<void, never, InWorkflow>
  }
>()("ballast/domain/revocation/RevocationRun") {
  static readonly layer = Layer.effect(
    RevocationRun,
    Effect.gen(function* () {
      const services = {
        operations: yield* OperationStore,
        store: yield* RevocationStore,
        preparer: yield* RevocationPreparer,
        execution: yield* RevocationExecution,
        relay: yield* TransactionRelay,
        gas: yield* GasBudget
      }
      return RevocationRun.of({ execute: (operationId) => makeExecute(services, operationId) })
    })
  )
}

interface Services {
  readonly operations: OperationStore["Service"]
  readonly store: RevocationStore["Service"]
  readonly preparer: RevocationPreparer["Service"]
  readonly execution: RevocationExecution["Service"]
  readonly relay: TransactionRelay["Service"]
  readonly gas: GasBudget["Service"]
}

/** What became of it on a chain. */
interface Revoked {
  readonly chain: ChainRevocation
  readonly failure: string | null
  readonly receipts: ReadonlyArray<ActionReceipt>
}

const makeExecute = (services: Services, operationId: OperationId) => {
  const { execution, gas, operations, preparer, relay, store } = services

  /** What is stored never changes, so it is read at each replay. */
  const signedRevocation = Effect.orDie(Effect.flatMap(store.load(operationId), Effect.fromOption))

  const enter = Effect.fnUntraced(function* (state: "running" | "retrying") {
    return yield* operations.transition({ operationId, to: state, at: yield* DateTime.now, error: null })
  })

  const begin = Activity.make({ name: "begin", execute: Effect.asVoid(enter("running")) }).annotate(
    ClusterSchema.WithTransaction,
    true
  )

  const record = Effect.fnUntraced(function* (chainId: ChainId, step: RevocationStep) {
    if (step._tag === "Ready") yield* enter("running")
    if (step._tag !== "Waiting" && step._tag !== "Refused") return
    if (!(yield* enter("retrying"))) return
    yield* operations.append({
      operationId,
      at: yield* DateTime.now,
      kind: "revocation_waits",
      payload: { chainId, reason: step.reason }
    })
  })

  const prepare = (signed: SignedRevocation, chain: ChainRevocation, round: number) =>
    Activity.make({
      name: `prepare/${chain.chainId}/${round}`,
      success: RevocationStep,
      execute: Effect.tap(preparer.next(signed, chain), (step) => record(chain.chainId, step))
    })

  /** Until nothing of before is good on the chain any more, or that cannot be brought about. */
  const revokeOn = Effect.fnUntraced(function* (signed: SignedRevocation, chain: ChainRevocation) {
    const { chainId } = chain
    const receipts: Array<ActionReceipt> = []
    const ended = (failure: string | null): Revoked => ({ chain, failure, receipts })
    let setbacks = 0
    for (let round = 1; ; round++) {
      const step = yield* prepare(signed, chain, round)
      if (step._tag === "Ended") return ended(null)
      if (step._tag === "Ready") {
        const attempt = { operationId, chainId, attempt: receipts.length + 1 }
        const carried = yield* relay.carry(attempt, step.prepared, (sent) => execution.find(sent, chain))
        const receipt = yield* Effect.orDie(Effect.fromOption(carried))
        receipts.push(receipt)
        if (receipt.success) return ended(null)
        setbacks += 1
        if (setbacks === maxSetbacks) return ended(`chain ${chainId} reverted the revocation in ${receipt.txHash}`)
        continue
      }
      if (step._tag === "Refused") {
        setbacks += 1
        if (setbacks === maxSetbacks) return ended(`chain ${chainId} refuses the revocation: ${step.reason}`)
      }
      yield* DurableClock.sleep({ name: `wait/${chainId}/${round}`, duration: waitFor(round) })
    }
  })

  const reportOf = Effect.fnUntraced(function* (outcomes: ReadonlyArray<Revoked>) {
    const chains = yield* Effect.forEach(outcomes, ({ chain, failure, receipts }) =>
      Effect.map(
        recordedTransactions(gas, { chainId: chain.chainId, carried: "user_operation", receipts }),
        (transactions) => ({
          ...emptyChain(chain.chainId),
          transactions,
          failure
        })
      )
    )
    const done = outcomes.filter(({ failure }) => failure === null).length
    return {
      outcome: done === outcomes.length ? "traded" : done === 0 ? "skipped" : "partly_traded",
      result: operationResult(chains, 0n)
    } satisfies OperationReport
  })

  /** Records on which chains it is over, and ends. */
  const finish = (outcomes: ReadonlyArray<Revoked>) =>
    Activity.make({
      name: "finish",
      execute: Effect.gen(function* () {
        const at = yield* DateTime.now
        const chains = outcomes
          .filter(({ failure }) => failure === null)
          .map(({ chain: { accountId, chainId } }) => ({ chainId, accountId }))
        if (chains.length > 0) yield* operations.append({ operationId, at, kind: "revoked", payload: { chains } })
        const failed = outcomes.flatMap(({ failure }) => (failure === null ? [] : [failure]))
        const error = failed.length === 0 ? null : failed.join("; ")
        yield* store.finish({ operationId, at, error, ended: yield* reportOf(outcomes) })
      })
    }).annotate(ClusterSchema.WithTransaction, true)

  const abandon = Activity.make({
    name: "abandon",
    execute: Effect.flatMap(DateTime.now, (at) =>
      store.finish({
        operationId,
        at,
        error: "internal error; quote the operation id in a report, and let the owner revoke anew"
      })
    )
  }).annotate(ClusterSchema.WithTransaction, true)

  const run = Effect.gen(function* () {
    yield* begin
    const signed = yield* signedRevocation
    const outcomes = yield* Effect.forEach(signed.revocation.chains, (chain) => revokeOn(signed, chain), {
      concurrency: "unbounded"
    })
    yield* finish(outcomes)
  })

  return run.pipe(
    failOnDefect("A revocation failed by a fault of the service", abandon),
    Effect.annotateLogs({ operationId })
  )
}
