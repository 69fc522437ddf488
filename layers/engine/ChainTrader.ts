/**
 * Carries a plan out on one chain.
 *
 * An attempt is `prepare` (quotes, limits, a simulated user operation; may repeat), then the relay, which puts it on
 * chain exactly once. A batch that the chain reverted moved nothing; the next attempt starts from a fresh plan. One that came
 * to nothing because of others in its transaction is carried alone after that.
 */
import { Context, DateTime, Effect, Layer } from "effect"
import { ClusterSchema } from "effect/cluster"
import { Activity } from "effect/workflow"
import type { ChainId, EvmAccountId } from "#domain/Caip.ts"
import type { OperationId } from "#domain/Ids.ts"
import { BatchPreparer, Preparation } from "#domain/rebalance/BatchPreparer.ts"
import { ChainExecution } from "#domain/rebalance/ChainExecution.ts"
import type { PlannedChain, RunPlan } from "#domain/rebalance/RunPlan.ts"
import type { ChainOutcome } from "#domain/rebalance/RunReport.ts"
import type { AttemptId } from "#domain/relay/RelayStore.ts"
import type { OutgoingTransfer } from "#domain/transfer/OutgoingTransfer.ts"
import { TransferLedger } from "#domain/transfer/TransferLedger.ts"
import type { PreparedTransaction } from "#domain/relay/Transaction.ts"
import { TransactionRelay } from "#layers/engine/TransactionRelay.ts"

const maxAttempts = 3

type Ready = Extract<Preparation, { readonly _tag: "Ready" }>

export class ChainTrader extends Context.Service<
  ChainTrader,
  {
    /** Always ends with an outcome; what could not be done is in it. Must run inside a workflow. */
    readonly trade: (
      operationId: OperationId,
      plan: RunPlan,
      chain: PlannedChain
    ) => ReturnType<ReturnType<typeof makeTrade>>
  }
>()("ballast/layers/engine/ChainTrader") {
  static readonly layer = Layer.effect(
    ChainTrader,
    Effect.gen(function* () {
      return ChainTrader.of({
        trade: makeTrade({
          preparer: yield* BatchPreparer,
          execution: yield* ChainExecution,
          relay: yield* TransactionRelay,
          ledger: yield* TransferLedger
        })
      })
    })
  )
}

interface Services {
  readonly preparer: BatchPreparer["Service"]
  readonly execution: ChainExecution["Service"]
  readonly relay: TransactionRelay["Service"]
  readonly ledger: TransferLedger["Service"]
}

const makeTrade = ({ preparer, execution, ledger, relay }: Services) => {
  const prepare = (attempt: AttemptId, plan: RunPlan) =>
    Activity.make({
      name: `prepare/${attempt.chainId}/${attempt.attempt}`,
      success: Preparation,
      execute: preparer.prepare(attempt, plan)
    })

  /** Before anything is sent, so that whoever reads the account afterwards knows where the rest went. */
  const announce = (
    { attempt, chainId, operationId }: AttemptId,
    { accountId, fromBlock, subject }: PreparedTransaction,
    transfers: ReadonlyArray<OutgoingTransfer>
  ) =>
    Activity.make({
      name: `announce/${chainId}/${attempt}`,
      execute: Effect.gen(function* () {
        const at = yield* DateTime.now
        yield* ledger.announce({ runId: operationId, attempt, accountId, subject, fromBlock, transfers, at })
      })
    }).annotate(ClusterSchema.WithTransaction, true)

  const retract = ({ attempt, chainId, operationId }: AttemptId) =>
    Activity.make({
      name: `retract/${chainId}/${attempt}`,
      execute: ledger.retract(operationId, chainId as ChainId, attempt)
    }).annotate(ClusterSchema.WithTransaction, true)

  /** What left is in the ledger before anything else is done; its watch is an operation of its own. */
  const depart = (
    { attempt, chainId, operationId }: AttemptId,
    accountId: EvmAccountId,
    transfers: ReadonlyArray<OutgoingTransfer>,
    txHash: string
  ) =>
    Activity.make({
      name: `depart/${chainId}/${attempt}`,
      execute: Effect.gen(function* () {
        const at = yield* DateTime.now
        yield* ledger.open({ runId: operationId, attempt, accountId, transfers, txHash, at })
      })
    }).annotate(ClusterSchema.WithTransaction, true)

  return Effect.fnUntraced(function* (
    operationId: OperationId,
    plan: RunPlan,
    { chainId, legs, skips, transfers: planned = [] }: PlannedChain
  ) {
    let last: ChainOutcome = { chainId, skips, swaps: [], receipt: null, failure: null }
    let spoiled: Ready | undefined
    for (let number = 1, tries = 0; legs.length + planned.length > 0 && tries < maxAttempts; number++) {
      const attempt: AttemptId = { operationId, chainId, attempt: number }
      const preparation: Preparation = spoiled ?? (yield* prepare(attempt, plan))
      if (preparation._tag === "Nothing") return { ...last, skips: preparation.skips, failure: preparation.failure }
      const { prepared, swaps, transfers = [] } = preparation
      if (transfers.length > 0) yield* announce(attempt, prepared, transfers)
      const receipt = yield* relay.carry(attempt, prepared, (transaction) =>
        execution.find(transaction, prepared.accountId)
      )
      if (transfers.length > 0) {
        yield* receipt.success ? depart(attempt, prepared.accountId, transfers, receipt.txHash) : retract(attempt)
      }
      const failure = receipt.success ? null : `the swaps were reverted in ${receipt.txHash}`
      last = { chainId, skips: preparation.skips, swaps, receipt, failure }
      if (transfers.length > 0) last = { ...last, transfers }
      if (receipt.success) return last
      // What others spoiled is no try of its own. The same operation goes again: whoever has seen it may still carry it.
      spoiled = receipt.isSpoiled === true ? alone(preparation) : undefined
      if (spoiled === undefined) tries += 1
    }
    return last
  })
}

/** The same, for a transaction of its own. */
const alone = (preparation: Ready): Ready => {
  const { bundleGas: _bundleGas, ...prepared } = preparation.prepared
  return { ...preparation, prepared }
}
