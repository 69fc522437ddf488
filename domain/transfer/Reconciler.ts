/**
 * Compares the ledger of value between chains with the chains.
 *
 * The watch of each transfer closes its entry; this looks at all that are open from the other side: that the source chain
 * still shows what the ledger says it took. A difference is drift: it is counted, told with its operation, and changes
 * nothing by itself, since only a chain's later answer can say which of both is right.
 */
import { Context, DateTime, Duration, Effect, Layer, Metric, Option, Schedule } from "effect"
import type { OperationId } from "#domain/Ids.ts"
import * as Metrics from "#domain/Metrics.ts"
import { Arrivals } from "#domain/transfer/Arrivals.ts"
import type { Transfer } from "#domain/transfer/Transfer.ts"
import { TransferLedger } from "#domain/transfer/TransferLedger.ts"

const interval = Duration.minutes(1)
const pageSize = 100
const concurrency = 4

/** What a pass found. */
export interface Reconciliation {
  readonly open: number
  /** Age of the oldest open entry; zero when there is none. */
  readonly oldest: Duration.Duration
  /** Entries that their source chain does not bear out, and why. */
  readonly drift: ReadonlyArray<{ readonly operationId: OperationId; readonly reason: string }>
}

export class Reconciler extends Context.Service<Reconciler, { readonly pass: Effect.Effect<Reconciliation> }>()(
  "ballast/domain/transfer/Reconciler"
) {
  static readonly layer = Layer.effect(
    Reconciler,
    Effect.gen(function* () {
      const ledger = yield* TransferLedger
      const arrivals = yield* Arrivals

      /** What is wrong with an entry; nothing when the chain cannot be asked: silence is no difference. */
      const driftOf = Effect.fnUntraced(function* ({ accountId, txHash }: Transfer) {
        const sent = yield* arrivals.read(accountId, txHash)
        if (Option.isNone(sent)) return `the source chain does not know ${txHash}`
        if (!sent.value.success) return `the source chain says that ${txHash} failed`
        // Swaps of the same batch may hide how much left, but nothing at all having moved cannot be explained.
        return sent.value.deltas.length > 0 ? null : `${txHash} moved nothing of the account`
      })

      const reconcile = (transfer: Transfer) =>
        driftOf(transfer).pipe(
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

      const pass = Effect.gen(function* () {
        const found = { open: 0, oldest: Duration.zero, drift: [] as Array<Reconciliation["drift"][number]> }
        let after: OperationId | null = null
        for (;;) {
          const page: ReadonlyArray<Transfer> = yield* ledger.allOpen(after, pageSize)
          const now = yield* DateTime.now
          const drifts = yield* Effect.forEach(page, reconcile, { concurrency })
          found.open += page.length
          found.drift.push(...drifts.flat())
          for (const { openedAt } of page) found.oldest = Duration.max(found.oldest, DateTime.distance(openedAt, now))
          if (page.length < pageSize) break
          after = page.at(-1)!.operationId
        }
        yield* Metric.update(Metrics.transfersOpen, found.open)
        yield* Metric.update(Metrics.oldestTransferAge, Math.round(Duration.toSeconds(found.oldest)))
        yield* Metric.update(Metrics.transferDrift, found.drift.length)
        return found satisfies Reconciliation
      }).pipe(Effect.withSpan("Reconciler.pass"))

      return Reconciler.of({ pass })
    })
  )

  /** Passes once a minute; a pass that fails is told, and the next one tries again. */
  static readonly fiber = Layer.effectDiscard(
    Effect.gen(function* () {
      const { pass } = yield* Reconciler
      yield* pass.pipe(
        Effect.catchCause((cause) => Effect.logError("The ledger of transfers could not be compared", cause)),
        Effect.repeat(Schedule.spaced(interval)),
        Effect.forkScoped
      )
    })
  )
}
