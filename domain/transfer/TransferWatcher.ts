/**
 * Watches one open transfer: reads its status from the provider, has the chain confirm it, and closes the ledger's
 * entry when both agree. Repeating it is harmless.
 */
import { Context, DateTime, Effect, Layer, Metric, Option } from "effect"
import { chainIdOf } from "#domain/Caip.ts"
import type { OperationId } from "#domain/Ids.ts"
import * as Metrics from "#domain/Metrics.ts"
import { Routing } from "#domain/trading/Routing.ts"
import { TransferReceipts } from "#domain/transfer/TransferReceipts.ts"
import type { Transfer, TransferEnd } from "#domain/transfer/Transfer.ts"
import { type TransferEvidence, transferEnd } from "#domain/transfer/transferEnd.ts"
import { TransferLedger } from "#domain/transfer/TransferLedger.ts"

/** Where a transfer stands after a poll. */
export type Observed =
  | { readonly _tag: "Ended"; readonly end: TransferEnd }
  /** Open, as it should be for a while. */
  | { readonly _tag: "Open"; readonly detail: string }
  /** Provider or chain could not be read, or do not agree. */
  | { readonly _tag: "Unclear"; readonly detail: string }

const unclear = (detail: string): Observed => ({ _tag: "Unclear", detail })

/**
 * Watches one open transfer.
 *
 * **When to use**
 *
 * Use in `BridgeRun`, until the transfer has ended.
 */
export class TransferWatcher extends Context.Service<
  TransferWatcher,
  {
    /** Closes the entry when the transfer has ended; an entry that is closed already counts as ended. */
    readonly observe: (transfer: Transfer) => Effect.Effect<Observed>
    readonly find: (operationId: OperationId) => Effect.Effect<Option.Option<Transfer>>
  }
>()("ballast/domain/transfer/TransferWatcher") {
  static readonly layer = Layer.effect(
    TransferWatcher,
    Effect.gen(function* () {
      const ledger = yield* TransferLedger
      const routing = yield* Routing
      const arrivals = yield* TransferReceipts

      const close = Effect.fnUntraced(function* ({ operationId }: Transfer, end: TransferEnd, closedBefore: number) {
        const closed = yield* ledger.close(operationId, end, { at: yield* DateTime.now, closedBefore })
        if (closed) {
          yield* Metric.update(Metric.withAttributes(Metrics.transfersEnded, { outcome: end.state }), 1)
          return { _tag: "Ended", end } satisfies Observed
        }
        return Option.match(yield* ledger.endOf(operationId), {
          onNone: () => unclear("what arrived closed another transfer of the portfolio at the same moment"),
          onSome: (before): Observed => ({ _tag: "Ended", end: before })
        })
      })

      /** A source transaction that did not succeed took nothing: the account still holds the amount. */
      const failed = Effect.fnUntraced(function* (transfer: Transfer, reason: string) {
        const sent = yield* arrivals.read(transfer.accountId, transfer.txHash)
        if (Option.isSome(sent) && !sent.value.success) {
          return yield* close(transfer, { state: "failed", received: null, reason }, 0)
        }
        return unclear(`the provider calls it failed (${reason}), but the source chain took the amount`)
      })

      const confirmed = Effect.fnUntraced(function* (transfer: Transfer, status: TransferEvidence["status"]) {
        const account = status._tag === "Refunded" ? transfer.accountId : transfer.receiverId
        const chainId = chainIdOf(account)
        const arrival = yield* arrivals.read(account, status.txHash)
        if (Option.isNone(arrival)) return unclear(`chain ${chainId} does not know ${status.txHash} yet`)
        const claims = yield* ledger.claims(transfer, status.txHash)
        const end = transferEnd(transfer, { status, arrival: arrival.value, claims })
        return end === undefined
          ? unclear(
              `${status.txHash} on chain ${chainId} brought nothing for this transfer, against the provider's status`
            )
          : yield* close(transfer, end, claims.received.length)
      })

      const observe = Effect.fn("TransferWatcher.observe")(function* (transfer: Transfer) {
        return yield* Effect.gen(function* () {
          const status = yield* routing.status({
            txHash: transfer.txHash,
            fromChainId: chainIdOf(transfer.sell),
            toChainId: chainIdOf(transfer.buy),
            tool: transfer.tool
          })
          if (status._tag === "Pending") return { _tag: "Open", detail: status.detail } satisfies Observed
          if (status._tag === "Failed") return yield* failed(transfer, status.reason)
          return yield* confirmed(transfer, status)
        }).pipe(Effect.catch((error) => Effect.succeed(unclear(error.message))))
      })

      return TransferWatcher.of({ observe, find: ledger.find })
    })
  )
}
