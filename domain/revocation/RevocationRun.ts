/**
 * What a revocation does: on each chain put the owner's operation there; finish. A chain that does not answer is waited
 * for, however long: the owner's signature does not expire.
 *
 * The chain carries the owner's operation out once, from any sender, so every step may be repeated.
 */
import { Context, DateTime, Duration, Effect, Layer } from "effect"
import type { ChainId } from "#domain/values/Caip.ts"
import type { ChainRevocation } from "#domain/account/Revocation.ts"
import type { OperationId } from "#domain/values/Ids.ts"
import type { InWorkflow } from "#domain/operation/InWorkflow.ts"
import { OperationStore } from "#domain/operation/OperationStore.ts"
import { RevocationTransactions, type SignedRevocation } from "#domain/revocation/RevocationTransactions.ts"
import { prepareRevocation, revocationSteps } from "#domain/revocation/prepareRevocation.ts"
import { RevocationStore } from "#domain/revocation/RevocationStore.ts"
import { emptyChain, type OperationReport, operationResult } from "#domain/operation/OperationResult.ts"
import { lastStep, runOperation } from "#domain/operation/runSteps.ts"
import { ChainAction, failedReceipts, type Unmade } from "#domain/relay/ChainAction.ts"
import type { LastStep, ReadyStep } from "#domain/relay/ActionStep.ts"
import { GasBudget } from "#domain/relay/GasBudget.ts"
import { recordedTransactions } from "#domain/relay/recordedTransactions.ts"
import type { ActionReceipt } from "#domain/relay/Transaction.ts"
import { TransactionRelay } from "#domain/relay/TransactionRelay.ts"

const longestPause = Duration.minutes(5)

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
        chain: yield* ChainAction,
        execution: yield* RevocationTransactions,
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
  readonly chain: ChainAction["Service"]
  readonly execution: RevocationTransactions["Service"]
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
  const { chain: action, execution, gas, operations, relay, store } = services
  const prepare = prepareRevocation(execution)

  /** What is stored never changes, so it is read at each replay. */
  const signedRevocation = Effect.orDie(Effect.flatMap(store.load(operationId), Effect.fromOption))

  /** Revokes until no earlier permission is good on the chain, or that cannot be brought about. */
  const revokeOn = Effect.fnUntraced(function* (signed: SignedRevocation, chain: ChainRevocation) {
    const { chainId } = chain
    const end = yield* action.execute({
      operationId,
      chainId,
      steps: revocationSteps,
      waits: (reason) => ({ kind: "revocation_waits", payload: { chainId, reason } }),
      longestPause,
      prepare: () => prepare(signed, chain),
      submit: (attempt, { prepared }) => relay.submit(attempt, prepared, (sent) => execution.find(sent, chain)),
      complete: ({ receipts }) => Effect.succeedSome(receipts)
    })
    if (end._tag === "Completed") return { chain, failure: null, receipts: end.value } satisfies Revoked
    if (end._tag === "Cancelled") return yield* Effect.die(new Error("A revocation cannot be cancelled"))
    return { chain, failure: failureOn(chainId, end), receipts: failedReceipts(end.setbacks) } satisfies Revoked
  })

  const reportOf = Effect.fnUntraced(function* (outcomes: ReadonlyArray<Revoked>) {
    const chains = yield* Effect.forEach(outcomes, ({ chain, failure, receipts }) =>
      Effect.map(
        recordedTransactions(gas, { chainId: chain.chainId, contents: "user_operation", receipts }),
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
    lastStep(
      "finish",
      Effect.gen(function* () {
        const at = yield* DateTime.now
        const chains = outcomes
          .filter(({ failure }) => failure === null)
          .map(({ chain: { accountId, chainId } }) => ({ chainId, accountId }))
        if (chains.length > 0) yield* operations.append({ operationId, at, kind: "revoked", payload: { chains } })
        const failed = outcomes.flatMap(({ failure }) => (failure === null ? [] : [failure]))
        const error = failed.length === 0 ? null : failed.join("; ")
        yield* store.finish({ operationId, at, error, ended: yield* reportOf(outcomes) })
      })
    )

  const abandon = Effect.flatMap(DateTime.now, (at) =>
    store.finish({
      operationId,
      at,
      error: "internal error; quote the operation id in a report, and let the owner revoke anew"
    })
  )

  const body = Effect.gen(function* () {
    const signed = yield* signedRevocation
    const outcomes = yield* Effect.forEach(signed.revocation.chains, (chain) => revokeOn(signed, chain), {
      concurrency: "unbounded"
    })
    yield* finish(outcomes)
  })

  return runOperation(
    operations,
    { operationId, complaint: "A revocation failed by a fault of the service", abandon },
    body
  )
}

/** Says why a revocation failed; null where the chain shows that no earlier permission is good any more. */
const failureOn = (chainId: ChainId, end: Exclude<Unmade<ReadyStep, LastStep>, { readonly _tag: "Cancelled" }>) => {
  if (end._tag === "Last") return null
  return end.refusal === null
    ? `chain ${chainId} reverted the revocation in ${failedReceipts(end.setbacks).at(-1)!.txHash}`
    : `chain ${chainId} refuses the revocation: ${end.refusal}`
}
