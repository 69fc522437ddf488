/**
 * What of a portfolio is between two chains, as of the blocks at which its accounts were read.
 *
 * The ledger is read before the accounts, and each open transfer is checked after: what arrived by then is in a
 * balance, and counts as on its way no longer. What is about to leave counts from the block on in which it left.
 */
import { Context, Duration, Effect, Layer, Option } from "effect"
import { type AccountId, chainIdOf } from "#domain/Caip.ts"
import type { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import type { PortfolioId } from "#domain/Ids.ts"
import { TransferReceipts } from "#domain/transfer/TransferReceipts.ts"
import type { OutgoingTransfer } from "#domain/trading/OutgoingTransfer.ts"
import type { Transfer, TransferEnd } from "#domain/transfer/Transfer.ts"
import { type TransferIntent, TransferLedger } from "#domain/transfer/TransferLedger.ts"
import { TransferWatcher } from "#domain/transfer/TransferWatcher.ts"

/** A provider that does not answer by then is not waited for: the transfer counts as open. */
const readTimeout = Duration.seconds(2)
/** Transfers of many portfolios that are checked at the same time. */
const lookupConcurrency = 8

/**
 * What of a portfolio is between two chains.
 *
 * **When to use**
 *
 * Use around a reading of balances, in the order that its methods name, so that nothing is counted twice or missed.
 */
export class InTransit extends Context.Service<
  InTransit,
  {
    /** Recorded intents that are not in the ledger yet; to be read before `open`. */
    readonly announced: (portfolioId: PortfolioId) => Effect.Effect<ReadonlyArray<TransferIntent>>
    /** Open transfers of any of the portfolios; to be read before accounts are. */
    readonly open: (portfolioIds: ReadonlyArray<PortfolioId>) => Effect.Effect<ReadonlyArray<Transfer>>
    /**
     * Of the open ones, those that no account had received by the block at which it was read. What an account received
     * that was not read is as unknown as all that it holds.
     */
    readonly onTheWay: (
      open: ReadonlyArray<Transfer>,
      blocks: ReadonlyMap<AccountId, bigint>
    ) => Effect.Effect<ReadonlyArray<Transfer>>
    /**
     * Of what was announced, what had left by the blocks at which the accounts were read, and is not among the open
     * ones. Fails when the chain of an account that was read does not say so; an account that was not read lacks
     * nothing.
     */
    readonly left: (
      announced: ReadonlyArray<TransferIntent>,
      open: ReadonlyArray<Transfer>,
      blocks: ReadonlyMap<AccountId, bigint>
    ) => Effect.Effect<ReadonlyArray<OutgoingTransfer>, ChainUnavailable>
  }
>()("ballast/domain/transfer/InTransit") {
  static readonly layer = Layer.effect(
    InTransit,
    Effect.gen(function* () {
      const ledger = yield* TransferLedger
      const watcher = yield* TransferWatcher
      const arrivals = yield* TransferReceipts

      const open = Effect.fn("InTransit.open")(function* (portfolioIds: ReadonlyArray<PortfolioId>) {
        return (yield* Effect.forEach(portfolioIds, ledger.openOf, { concurrency: "unbounded" })).flat()
      })

      /** As observed now, or as another process recorded it. */
      const endOf = (transfer: Transfer) =>
        watcher.observe(transfer).pipe(
          Effect.timeoutOption(readTimeout),
          Effect.flatMap((observed) =>
            Option.isSome(observed) && observed.value._tag === "Ended"
              ? Effect.succeedSome(observed.value.end)
              : ledger.endOf(transfer.operationId)
          )
        )

      const hasArrived = (
        { accountId, receiverId }: Transfer,
        { received }: TransferEnd,
        blocks: ReadonlyMap<AccountId, bigint>
      ) => {
        if (received === null) return true
        const chainId = chainIdOf(received.assetId)
        const holder = [accountId, receiverId].find((account) => chainIdOf(account) === chainId)
        const block = holder && blocks.get(holder)
        return block === undefined || received.blockNumber <= block
      }

      const onTheWay = Effect.fn("InTransit.onTheWay")(
        (transfers: ReadonlyArray<Transfer>, blocks: ReadonlyMap<AccountId, bigint>) =>
          Effect.filter(
            transfers,
            (transfer) =>
              Effect.map(endOf(transfer), (end) => Option.isNone(end) || !hasArrived(transfer, end.value, blocks)),
            { concurrency: lookupConcurrency }
          )
      )

      const announced = Effect.fn("InTransit.announced")(ledger.intentsOf)

      const leftBy = Effect.fnUntraced(function* (
        { accountId, fromBlock, subject, transfers }: TransferIntent,
        known: ReadonlyArray<Transfer>,
        block: bigint | undefined
      ) {
        if (block === undefined) return []
        const carried = yield* arrivals.carriedAt(accountId, subject, fromBlock)
        if (Option.isNone(carried) || carried.value.blockNumber > block) return []
        return known.some(({ txHash }) => txHash === carried.value.txHash) ? [] : transfers
      })

      const left = Effect.fn("InTransit.left")(function* (
        intents: ReadonlyArray<TransferIntent>,
        transfers: ReadonlyArray<Transfer>,
        blocks: ReadonlyMap<AccountId, bigint>
      ) {
        const taken = yield* Effect.forEach(intents, (intent) =>
          leftBy(intent, transfers, blocks.get(intent.accountId))
        )
        return taken.flat()
      })

      return InTransit.of({ announced, open, onTheWay, left })
    })
  ).pipe(Layer.provide(TransferWatcher.layer))
}
