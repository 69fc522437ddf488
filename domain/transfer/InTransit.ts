/**
 * What of a portfolio is between two chains right now.
 *
 * Each open transfer is looked at before it is counted, since what has arrived is in a balance already and would count
 * twice until the next look of its own watch.
 */
import { Context, Duration, Effect, Layer } from "effect"
import type { PortfolioId } from "#domain/Ids.ts"
import type { Transfer } from "#domain/transfer/Transfer.ts"
import { TransferLedger } from "#domain/transfer/TransferLedger.ts"
import { TransferWatcher } from "#domain/transfer/TransferWatcher.ts"

/** A provider that does not answer by then is not waited for: the transfer counts as open. */
const lookWithin = Duration.seconds(2)

export class InTransit extends Context.Service<
  InTransit,
  { readonly of: (portfolioId: PortfolioId) => Effect.Effect<ReadonlyArray<Transfer>> }
>()("ballast/domain/transfer/InTransit") {
  static readonly layer = Layer.effect(
    InTransit,
    Effect.gen(function* () {
      const ledger = yield* TransferLedger
      const watcher = yield* TransferWatcher

      const isOpen = (transfer: Transfer) =>
        watcher.look(transfer).pipe(
          Effect.timeout(lookWithin),
          Effect.map(({ _tag }) => _tag !== "Ended"),
          Effect.orElseSucceed(() => true)
        )

      const of = Effect.fn("InTransit.of")(function* (portfolioId: PortfolioId) {
        return yield* Effect.filter(yield* ledger.openOf(portfolioId), isOpen, { concurrency: "unbounded" })
      })

      return InTransit.of({ of })
    })
  ).pipe(Layer.provide(TransferWatcher.layer))
}
