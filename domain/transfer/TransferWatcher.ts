/**
 * Watches one open transfer, and closes the ledger's entry when a chain shows that it has ended: in the transaction
 * that the provider names, or in one that brought about as much since it was sent. The provider's answer alone, or that
 * it has none, decides nothing. Repeating it is harmless.
 */
import { Context, DateTime, Duration, Effect, Fiber, Layer, Metric, Option, Result } from "effect"
import { chainIdOf } from "#domain/values/Caip.ts"
import type { OperationId } from "#domain/values/Ids.ts"
import * as Metrics from "#domain/effects/Metrics.ts"
import { type RouteStatus, Routing } from "#domain/trading/Routing.ts"
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

/** A transfer that is older should have ended. */
const lateAfter = Duration.hours(1)

/** How long a provider is waited for whose answer is not needed. */
const patienceWithProvider = Duration.millis(500)

/** What arrives may be so much more than was expected, as a divisor: two percent. */
const surplusParts = 50n

/** How a transfer may have ended by a chain alone: in which account, and within which amounts. */
const possibleEnds = (transfer: Transfer) =>
  [
    {
      _tag: "Delivered",
      state: "delivered",
      account: transfer.receiverId,
      assetId: transfer.buy,
      least: transfer.minRaw,
      most: transfer.expectedRaw + transfer.expectedRaw / surplusParts
    },
    {
      _tag: "Refunded",
      state: "refunded",
      account: transfer.accountId,
      assetId: transfer.sell,
      least: (transfer.amountRaw * transfer.minRaw) / transfer.expectedRaw,
      most: transfer.amountRaw
    }
  ] as const

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

      /** Reads the state that the provider reports, which the chain must bear out. */
      const byProvider = Effect.fnUntraced(function* (transfer: Transfer, status: RouteStatus) {
        if (status._tag === "Failed") return yield* failed(transfer, status.reason)
        if (status._tag !== "Pending") return yield* confirmed(transfer, status)
        const age = DateTime.distance(transfer.openedAt, yield* DateTime.now)
        return Duration.isLessThan(age, lateAfter)
          ? ({ _tag: "Open", detail: status.detail } satisfies Observed)
          : unclear(`it left more than ${Duration.format(lateAfter)} ago, and has not arrived (${status.detail})`)
      })

      /** The end that the chains show, whoever names it; undefined while they show none. */
      const shownByChains = Effect.fnUntraced(function* (transfer: Transfer) {
        const after = { accountId: transfer.accountId, txHash: transfer.txHash }
        const found = yield* Effect.forEach(
          possibleEnds(transfer),
          ({ account, assetId, least, most, ...end }) =>
            Effect.map(arrivals.incoming(account, { assetId, least, most, after }), (hashes) => ({
              ...end,
              account,
              hashes
            })),
          { concurrency: "unbounded" }
        )
        for (const { _tag, account, hashes, state } of found) {
          for (const txHash of hashes) {
            const arrival = yield* arrivals.read(account, txHash)
            if (Option.isNone(arrival)) continue
            const claims = yield* ledger.claims(transfer, txHash)
            const end = transferEnd(transfer, { status: { _tag, txHash }, arrival: arrival.value, claims })
            if (end?.state === state) return { end, closedBefore: claims.received.length }
          }
        }
        return undefined
      })

      /** The provider is heard first, which knows its own transactions; it holds nothing up that a chain shows. */
      const observe = Effect.fn("TransferWatcher.observe")(function* (transfer: Transfer) {
        const { buy, sell, tool, txHash } = transfer
        const asked = yield* Effect.forkChild(
          routing.status({ txHash, fromChainId: chainIdOf(sell), toChainId: chainIdOf(buy), tool }),
          { startImmediately: true }
        )
        const answer = Effect.result(Effect.flatMap(Fiber.join(asked), (status) => byProvider(transfer, status)))
        const shown = Result.getOrUndefined(yield* Effect.result(shownByChains(transfer)))
        const said =
          shown === undefined
            ? yield* answer
            : yield* Effect.timeoutOrElse(answer, {
                duration: patienceWithProvider,
                orElse: () => Effect.succeed(undefined)
              })
        if (shown !== undefined && (said === undefined || Result.isFailure(said) || said.success._tag !== "Ended"))
          return yield* close(transfer, shown.end, shown.closedBefore)
        return said === undefined || Result.isFailure(said)
          ? unclear(said === undefined ? "the provider has not answered" : said.failure.message)
          : said.success
      })

      return TransferWatcher.of({ observe, find: ledger.find })
    })
  )
}
