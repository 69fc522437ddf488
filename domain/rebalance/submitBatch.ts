/**
 * Submits a batch to its chain, with the ledger around it where value leaves for another chain: the intent is recorded
 * before anything is signed, and what became of the batch ends it. A batch that landed opens the transfers; one that
 * moved nothing, or was never signed, takes the intent back.
 */
import { DateTime, Effect, Option } from "effect"
import { ClusterSchema } from "effect/cluster"
import { Activity } from "effect/workflow"
import type { OperationId } from "#domain/values/Ids.ts"
import { OperationLauncher } from "#domain/operation/OperationLauncher.ts"
import type { Ready } from "#domain/rebalance/Preparation.ts"
import { ActionReceipts } from "#domain/relay/ActionReceipts.ts"
import type { AttemptId } from "#domain/relay/RelayStore.ts"
import type { ActionReceipt } from "#domain/relay/Transaction.ts"
import { actionToSubmit, type PreparedBatch } from "#domain/trading/PreparedBatch.ts"
import { type RelayAttempt, TransactionRelay } from "#domain/relay/TransactionRelay.ts"
import type { OutgoingTransfer } from "#domain/trading/OutgoingTransfer.ts"
import { TransferLedger } from "#domain/transfer/TransferLedger.ts"

/**
 * Submits the batches of a run. Only here are the intents of a run recorded, so none is without its end, and only here
 * does a batch become an action that the relay takes.
 *
 * `submit` answers the receipt, once the chain has decided; none when the operation was cancelled before the batch was
 * signed. What left is in the ledger by then. `openTransfers` enters what a batch sent that was taken back, and that
 * somebody else has included after all. Both must run inside a workflow; the attempt names the activities.
 */
export const makeSubmitBatch = Effect.gen(function* () {
  const ledger = yield* TransferLedger
  const launcher = yield* OperationLauncher
  const actions = yield* ActionReceipts
  const relay = yield* TransactionRelay

  /** Records the intent before anything is sent, so that a later reading of the account shows where the value went. */
  const recordIntent = (
    { attempt, chainId, operationId }: AttemptId,
    { accountId, foundFrom: fromBlock, actionHash }: PreparedBatch,
    transfers: ReadonlyArray<OutgoingTransfer>
  ) =>
    Activity.make({
      name: `announce/${chainId}/${attempt}`,
      execute: Effect.gen(function* () {
        const at = yield* DateTime.now
        yield* ledger.recordIntent({ runId: operationId, attempt, accountId, actionHash, fromBlock, transfers, at })
      })
    }).annotate(ClusterSchema.WithTransaction, true)

  const cancelIntent = ({ attempt, chainId, operationId }: AttemptId) =>
    Activity.make({
      name: `retract/${chainId}/${attempt}`,
      execute: ledger.cancelIntent(operationId, chainId, attempt)
    }).annotate(ClusterSchema.WithTransaction, true)

  /**
   * What left is in the ledger before anything else is done; its watch is an operation of its own, which begins at
   * once. A launch that is lost is made up for, as that of any accepted operation.
   */
  const openTransfers = Effect.fnUntraced(function* (
    { attempt, chainId, operationId }: AttemptId,
    { prepared: { accountId }, transfers = [] }: Ready,
    { txHash }: ActionReceipt
  ) {
    let watches: ReadonlyArray<OperationId> = []
    yield* Activity.make({
      name: `depart/${chainId}/${attempt}`,
      execute: Effect.gen(function* () {
        const at = yield* DateTime.now
        watches = yield* ledger.open({ runId: operationId, attempt, accountId, transfers, txHash, at })
      })
    }).annotate(ClusterSchema.WithTransaction, true)
    yield* Effect.forEach(watches, (watch) => launcher.launch({ operationId: watch, kind: "bridge" })).pipe(
      Effect.catchDefect((defect) => Effect.logWarning("The watch of a transfer is left to the scheduler", defect))
    )
  })

  const submit = Effect.fnUntraced(function* (attempt: RelayAttempt, batch: Ready) {
    const { prepared, transfers = [] } = batch
    const { accountId } = prepared
    if (transfers.length > 0) yield* recordIntent(attempt, prepared, transfers)
    const included = yield* relay.submit(attempt, actionToSubmit(prepared), (transaction) =>
      actions.find(transaction, accountId)
    )
    if (transfers.length === 0) return included
    yield* Option.match(
      Option.filter(included, ({ success }) => success),
      {
        onNone: () => cancelIntent(attempt),
        onSome: (receipt) => openTransfers(attempt, batch, receipt)
      }
    )
    return included
  })

  return { submit, openTransfers }
})
