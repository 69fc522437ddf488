/**
 * What of a portfolio is between two chains right now.
 *
 * Each open transfer is looked at before it is counted, since what has arrived is in a balance already and would count
 * twice until the next look of its own watch. What is about to leave counts from the block on that took it.
 */
import { Context, Duration, Effect, Layer, Option } from "effect"
import type { EvmAccountId } from "#domain/Caip.ts"
import type { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import type { PortfolioId } from "#domain/Ids.ts"
import { Arrivals } from "#domain/transfer/Arrivals.ts"
import type { OutgoingTransfer } from "#domain/transfer/OutgoingTransfer.ts"
import type { Transfer } from "#domain/transfer/Transfer.ts"
import { type Announcement, TransferLedger } from "#domain/transfer/TransferLedger.ts"
import { TransferWatcher } from "#domain/transfer/TransferWatcher.ts"

/** A provider that does not answer by then is not waited for: the transfer counts as open. */
const lookWithin = Duration.seconds(2)
/** Transfers of many portfolios that are looked at at once. */
const looksAtOnce = 8

export class InTransit extends Context.Service<
  InTransit,
  {
    /** Open transfers. */
    readonly of: (portfolioId: PortfolioId) => Effect.Effect<ReadonlyArray<Transfer>>
    /** Open transfers of any of the portfolios. */
    readonly ofMany: (portfolioIds: ReadonlyArray<PortfolioId>) => Effect.Effect<ReadonlyArray<Transfer>>
    /** What was announced and is not in the ledger yet; to be asked for before `of`. */
    readonly announced: (portfolioId: PortfolioId) => Effect.Effect<ReadonlyArray<Announcement>>
    /**
     * Of what was announced, what had left by the blocks at which the accounts were read, and is not among the open ones.
     * Fails when the chain of an account that was read does not say so; an account that was not read lacks nothing.
     */
    readonly left: (
      announced: ReadonlyArray<Announcement>,
      open: ReadonlyArray<Transfer>,
      blocks: ReadonlyMap<EvmAccountId, bigint>
    ) => Effect.Effect<ReadonlyArray<OutgoingTransfer>, ChainUnavailable>
  }
>()("ballast/domain/transfer/InTransit") {
  static readonly layer = Layer.effect(
    InTransit,
    Effect.gen(function* () {
      const ledger = yield* TransferLedger
      const watcher = yield* TransferWatcher
      const arrivals = yield* Arrivals

      const isOpen = (transfer: Transfer) =>
        watcher.look(transfer).pipe(
          Effect.timeout(lookWithin),
          Effect.map(({ _tag }) => _tag !== "Ended"),
          Effect.orElseSucceed(() => true)
        )

      const of = Effect.fn("InTransit.of")(function* (portfolioId: PortfolioId) {
        return yield* Effect.filter(yield* ledger.openOf(portfolioId), isOpen, { concurrency: "unbounded" })
      })

      const ofMany = Effect.fn("InTransit.ofMany")(function* (portfolioIds: ReadonlyArray<PortfolioId>) {
        const open = yield* Effect.forEach(portfolioIds, ledger.openOf, { concurrency: "unbounded" })
        return yield* Effect.filter(open.flat(), isOpen, { concurrency: looksAtOnce })
      })

      const announced = Effect.fn("InTransit.announced")(ledger.announcedOf)

      const leftBy = Effect.fnUntraced(function* (
        { accountId, fromBlock, subject, transfers }: Announcement,
        open: ReadonlyArray<Transfer>,
        block: bigint | undefined
      ) {
        if (block === undefined) return []
        const carried = yield* arrivals.carriedAt(accountId, subject, fromBlock)
        if (Option.isNone(carried) || carried.value.blockNumber > block) return []
        return open.some(({ txHash }) => txHash === carried.value.txHash) ? [] : transfers
      })

      const left = Effect.fn("InTransit.left")(function* (
        announcements: ReadonlyArray<Announcement>,
        open: ReadonlyArray<Transfer>,
        blocks: ReadonlyMap<EvmAccountId, bigint>
      ) {
        const taken = yield* Effect.forEach(announcements, (announcement) =>
          leftBy(announcement, open, blocks.get(announcement.accountId))
        )
        return taken.flat()
      })

      return InTransit.of({ of, ofMany, announced, left })
    })
  ).pipe(Layer.provide(TransferWatcher.layer))
}
