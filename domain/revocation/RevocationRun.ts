/**
 * What a revocation does: on each chain prepare until the chain says that it would succeed, and put the owner's operation
 * there; finish. A chain that does not answer is waited for, however long: the owner's word does not expire.
 *
 * The chain carries the owner's operation out once, whoever submits it, so every step may be repeated.
 */
import { Context, DateTime, Duration, Effect, Layer } from "effect"
import { ClusterSchema } from "effect/cluster"
import { Activity, DurableClock } from "effect/workflow"
import type { ChainRevocation } from "#domain/account/Revocation.ts"
import type { OperationId } from "#domain/Ids.ts"
import type { InWorkflow } from "#domain/operation/InWorkflow.ts"
import { OperationStore } from "#domain/operation/OperationStore.ts"
import { RevocationExecution, type SignedRevocation } from "#domain/revocation/RevocationExecution.ts"
import { RevocationPreparer, RevocationStep } from "#domain/revocation/RevocationPreparer.ts"
import { RevocationStore } from "#domain/revocation/RevocationStore.ts"
import { orAbandon } from "#domain/operation/orAbandon.ts"
import { TransactionRelay } from "#domain/relay/TransactionRelay.ts"

/** How often a chain may refuse or revert before it is taken at its word; nodes behind one endpoint may lag. */
const maxSetbacks = 3

/** One second at first, then up to five minutes. */
const waitFor = (round: number) => Duration.seconds(Math.min(300, 2 ** Math.min(round - 1, 9)))

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
        relay: yield* TransactionRelay
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
}

const makeExecute = ({ execution, operations, preparer, relay, store }: Services, operationId: OperationId) => {
  /** What is stored never changes, so it is read at each replay. */
  const signedRevocation = Effect.orDie(Effect.flatMap(store.load(operationId), Effect.fromOption))

  const enter = Effect.fnUntraced(function* (state: "running" | "retrying") {
    return yield* operations.transition(operationId, state, yield* DateTime.now, null)
  })

  const begin = Activity.make({ name: "begin", execute: Effect.asVoid(enter("running")) }).annotate(
    ClusterSchema.WithTransaction,
    true
  )

  const record = Effect.fnUntraced(function* (chainId: number, step: RevocationStep) {
    if (step._tag === "Ready") yield* enter("running")
    if (step._tag !== "Waiting" && step._tag !== "Refused") return
    if (!(yield* enter("retrying"))) return
    yield* operations.append(operationId, yield* DateTime.now, "revocation_waits", { chainId, reason: step.reason })
  })

  const prepare = (signed: SignedRevocation, chain: ChainRevocation, round: number) =>
    Activity.make({
      name: `prepare/${chain.chainId}/${round}`,
      success: RevocationStep,
      execute: Effect.tap(preparer.next(signed, chain), (step) => record(chain.chainId, step))
    })

  /** Null when nothing of before is good on the chain any more; else why that could not be brought about. */
  const revokeOn = Effect.fnUntraced(function* (signed: SignedRevocation, chain: ChainRevocation) {
    const { chainId } = chain
    let setbacks = 0
    let attempts = 0
    for (let round = 1; ; round++) {
      const step = yield* prepare(signed, chain, round)
      if (step._tag === "Ended") return null
      if (step._tag === "Ready") {
        attempts += 1
        const attempt = { operationId, chainId, attempt: attempts }
        const receipt = yield* relay.carry(attempt, step.prepared, (sent) => execution.find(sent, chain))
        if (receipt.success) return null
        setbacks += 1
        if (setbacks === maxSetbacks) return `chain ${chainId} reverted the revocation in ${receipt.txHash}`
        continue
      }
      if (step._tag === "Refused") {
        setbacks += 1
        if (setbacks === maxSetbacks) return `chain ${chainId} refuses the revocation: ${step.reason}`
      }
      yield* DurableClock.sleep({ name: `wait/${chainId}/${round}`, duration: waitFor(round) })
    }
  })

  /** Tells on which chains it is over, and ends. */
  const finish = ({ revocation: { chains } }: SignedRevocation, failures: ReadonlyArray<string | null>) =>
    Activity.make({
      name: "finish",
      execute: Effect.gen(function* () {
        const at = yield* DateTime.now
        const ended = chains
          .filter((_, index) => failures[index] === null)
          .map(({ accountId, chainId }) => ({ chainId, accountId }))
        if (ended.length > 0) yield* operations.append(operationId, at, "revoked", { chains: ended })
        const failed = failures.filter((failure) => failure !== null)
        yield* store.finish(operationId, at, failed.length === 0 ? null : failed.join("; "))
      })
    }).annotate(ClusterSchema.WithTransaction, true)

  const abandon = Activity.make({
    name: "abandon",
    execute: Effect.flatMap(DateTime.now, (at) =>
      store.finish(operationId, at, "internal error; quote the operation id in a report, and let the owner revoke anew")
    )
  }).annotate(ClusterSchema.WithTransaction, true)

  const run = Effect.gen(function* () {
    yield* begin
    const signed = yield* signedRevocation
    const failures = yield* Effect.forEach(signed.revocation.chains, (chain) => revokeOn(signed, chain), {
      concurrency: "unbounded"
    })
    yield* finish(signed, failures)
  })

  return run.pipe(
    orAbandon("A revocation failed by a fault of the service", abandon),
    Effect.annotateLogs({ operationId })
  )
}
