/**
 * Compares the ledger of value between chains with the chains.
 *
 * The watch of each transfer closes its entry. This pass compares every open entry with its source chain: the chain
 * must still show that the recorded value left. A discrepancy is counted, logged with its operation, and changes
 * nothing by itself, since only a later answer of the chain can show which of both is right.
 *
 * Intents of a run that died are resolved here, since no run is left to do it; those that are still undecided are
 * discrepancies too.
 */
import { Context, DateTime, Duration, Effect, Layer, Metric, Option, Result } from "effect"
import type { OperationId } from "#domain/values/Ids.ts"
import { keepGoingEvery } from "#domain/effects/keepGoing.ts"
import * as Metrics from "#domain/effects/Metrics.ts"
import { TransferReceipts } from "#domain/transfer/TransferReceipts.ts"
import { makeResolveIntent } from "#domain/transfer/resolveIntent.ts"
import type { Transfer } from "#domain/transfer/Transfer.ts"
import { type TransferIntent, TransferLedger } from "#domain/transfer/TransferLedger.ts"

const interval = Duration.minutes(1)
const pageSize = 100
const concurrency = 4

/** A run that ended so long ago has no step left that could still be under way, whatever process had it. */
const abandonedAfter = Duration.minutes(5)

/** An entry of the ledger that its chain does not confirm. */
export interface Discrepancy {
  readonly operationId: OperationId
  readonly reason: string
}

/** What a pass found. */
export interface Reconciliation {
  readonly open: number
  /** Age of the oldest open entry; zero when there is none. */
  readonly oldest: Duration.Duration
  /** Intents of runs that died, which are opened or cancelled now. */
  readonly resolved: number
  /** Entries that their source chain does not confirm, intents that are still undecided, and why. */
  readonly discrepancies: ReadonlyArray<Discrepancy>
}

/**
 * Compares the ledger of transfers with the chains.
 *
 * **When to use**
 *
 * Use `fiber` in the composition of the service, and `pass` in tests.
 */
export class Reconciler extends Context.Service<Reconciler, { readonly pass: Effect.Effect<Reconciliation> }>()(
  "ballast/domain/transfer/Reconciler"
) {
  static readonly layer = Layer.effect(
    Reconciler,
    Effect.gen(function* () {
      const ledger = yield* TransferLedger
      const receipts = yield* TransferReceipts
      const resolveIntent = yield* makeResolveIntent

      /** What is wrong with an entry; nothing when the chain cannot be read: an unread chain is no discrepancy. */
      const discrepancyOf = Effect.fnUntraced(function* ({ accountId, txHash }: Transfer) {
        const sent = yield* receipts.read(accountId, txHash)
        if (Option.isNone(sent)) return `the source chain does not know ${txHash}`
        if (!sent.value.success) return `on the source chain ${txHash} failed`
        // Swaps of the same batch may hide how much left, but nothing at all having moved cannot be explained.
        return sent.value.deltas.length > 0 ? null : `${txHash} moved nothing of the account`
      })

      const reconcile = (transfer: Transfer) =>
        discrepancyOf(transfer).pipe(
          Effect.orElseSucceed(() => null),
          Effect.tap((reason) =>
            reason === null
              ? Effect.void
              : Effect.logError(`The ledger and chain ${transfer.accountId} differ: ${reason}`).pipe(
                  Effect.annotateLogs({ operationId: transfer.operationId })
                )
          ),
          Effect.map((reason) => (reason === null ? [] : [{ operationId: transfer.operationId, reason }]))
        )

      /** Why an intent is undecided; null once it is opened or cancelled. */
      const resolve = Effect.fnUntraced(function* (intent: TransferIntent) {
        const { accountId, runId: operationId } = intent
        const outcome = yield* Effect.result(resolveIntent(intent))
        if (Result.isSuccess(outcome) && outcome.success !== "undecided") {
          yield* Effect.logWarning(
            `The intent of a transfer from ${accountId}, whose run died, is ${outcome.success}`
          ).pipe(Effect.annotateLogs({ operationId }))
          return null
        }
        const why = Result.isSuccess(outcome) ? "its chain shows no end of it yet" : outcome.failure.message
        return {
          operationId,
          reason: `the intent of a transfer from ${accountId}, whose run died, is undecided: ${why}`
        }
      })

      const resolveAbandoned = Effect.gen(function* () {
        const endedBefore = DateTime.subtractDuration(yield* DateTime.now, abandonedAfter)
        const discrepancies: Array<Discrepancy> = []
        let resolved = 0
        let after: TransferIntent | null = null
        for (;;) {
          const page: ReadonlyArray<TransferIntent> = yield* ledger.abandonedIntents(endedBefore, after, pageSize)
          const remains = yield* Effect.forEach(page, resolve, { concurrency })
          const undecided = remains.filter((one) => one !== null)
          discrepancies.push(...undecided)
          resolved += page.length - undecided.length
          if (page.length < pageSize) return { discrepancies, resolved }
          after = page.at(-1)!
        }
      })

      const pass = Effect.gen(function* () {
        const { discrepancies, resolved } = yield* resolveAbandoned
        const found = { open: 0, resolved, oldest: Duration.zero, discrepancies }
        let after: OperationId | null = null
        for (;;) {
          const page: ReadonlyArray<Transfer> = yield* ledger.allOpen(after, pageSize)
          const now = yield* DateTime.now
          const compared = yield* Effect.forEach(page, reconcile, { concurrency })
          found.open += page.length
          found.discrepancies.push(...compared.flat())
          for (const { openedAt } of page) found.oldest = Duration.max(found.oldest, DateTime.distance(openedAt, now))
          if (page.length < pageSize) break
          after = page.at(-1)!.operationId
        }
        yield* Metric.update(Metrics.transfersOpen, found.open)
        yield* Metric.update(Metrics.oldestTransferAge, Math.round(Duration.toSeconds(found.oldest)))
        yield* Metric.update(Metrics.transferDrift, found.discrepancies.length)
        return found satisfies Reconciliation
      }).pipe(Effect.withSpan("Reconciler.pass"))

      return Reconciler.of({ pass })
    })
  )

  /** Passes once a minute; a pass that fails is logged, and the next one tries again. */
  static readonly fiber = Layer.effectDiscard(
    Effect.flatMap(Reconciler, ({ pass }) =>
      keepGoingEvery(pass, { complaint: "The ledger of transfers could not be compared", interval })
    )
  )
}
