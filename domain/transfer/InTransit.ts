/**
 * What of a portfolio is between two chains, as of the blocks at which its accounts were read.
 *
 * The ledger is read before the accounts, and each open transfer is checked after: what arrived by then is in a
 * balance, and counts as on its way no longer. What is about to leave counts from the block on in which it left. So
 * callers hand their reading over as a step, which is made in between.
 */
import { Cause, Context, Duration, Effect, Layer, Option } from "effect"
import { type AccountId, chainIdOf } from "#domain/values/Caip.ts"
import type { PortfolioId } from "#domain/values/Ids.ts"
import { RelayStore } from "#domain/relay/RelayStore.ts"
import { TransferReceipts } from "#domain/transfer/TransferReceipts.ts"
import type { OutgoingTransfer } from "#domain/trading/OutgoingTransfer.ts"
import type { Transfer, TransferEnd } from "#domain/transfer/Transfer.ts"
import { type TransferIntent, TransferLedger } from "#domain/transfer/TransferLedger.ts"
import { TransferWatcher } from "#domain/transfer/TransferWatcher.ts"

/** A provider that does not answer by then is not waited for: the transfer counts as open. */
const readTimeout = Duration.seconds(2)
/** Transfers of many portfolios that are checked at the same time. */
const lookupConcurrency = 8

/** Accounts as they were read, and the block at which each was; an account that was not read has none. */
export interface ReadAccounts<A> {
  readonly accounts: A
  readonly blocks: ReadonlyMap<AccountId, bigint>
}

/** What was read for plans. */
export interface PlanAccounts<A> {
  readonly accounts: A
  /**
   * Open transfers that no account had received by the block at which it was read. What an account received that was
   * not read is as unknown as all that it holds.
   */
  readonly onTheWay: ReadonlyArray<Transfer>
  /** Transfers that are late or could not be asked about: nothing else of their portfolio may move between chains. */
  readonly unclear: ReadonlyArray<Transfer>
}

/** What was read to be shown. */
export interface ShownAccounts<A> {
  readonly accounts: A
  /** What is on the way, and what had left by the block at which its account was read and is not in the ledger yet. */
  readonly transfers: ReadonlyArray<OutgoingTransfer>
  /** False when the ledger or a chain did not answer all of that, or not in time. */
  readonly areWhole: boolean
}

/**
 * What of a portfolio is between two chains.
 *
 * **When to use**
 *
 * Use around a reading of balances, so that nothing is counted twice or missed.
 */
export class InTransit extends Context.Service<
  InTransit,
  {
    /**
     * Reads accounts of any of the portfolios. What is to be read may depend on what is open: a transfer that is not on
     * its way any more when the accounts were read is in their balances.
     */
    readonly readForPlans: <A, E, R>(
      portfolioIds: ReadonlyArray<PortfolioId>,
      read: (open: ReadonlyArray<Transfer>) => Effect.Effect<ReadAccounts<A>, E, R>
    ) => Effect.Effect<PlanAccounts<A>, E, R>
    /** Reads the accounts of a portfolio, with the transfers between its chains. Fails as the reading does. */
    readonly readToShow: <A, E, R>(
      portfolioId: PortfolioId,
      read: Effect.Effect<ReadAccounts<A>, E, R>
    ) => Effect.Effect<ShownAccounts<A>, E, R>
  }
>()("ballast/domain/transfer/InTransit") {
  static readonly layer = Layer.effect(
    InTransit,
    Effect.gen(function* () {
      const ledger = yield* TransferLedger
      const watcher = yield* TransferWatcher
      const arrivals = yield* TransferReceipts
      const relays = yield* RelayStore

      const openOf = Effect.fnUntraced(function* (portfolioIds: ReadonlyArray<PortfolioId>) {
        return (yield* Effect.forEach(portfolioIds, ledger.openOf, { concurrency: "unbounded" })).flat()
      })

      /**
       * Reads a transfer's state as observed now, or as another process recorded it; unclear as well where nothing was
       * observed in time.
       */
      const standingOf = Effect.fnUntraced(function* (transfer: Transfer) {
        const observed = Option.getOrUndefined(yield* Effect.timeoutOption(watcher.observe(transfer), readTimeout))
        const end = observed?._tag === "Ended" ? Option.some(observed.end) : yield* ledger.endOf(transfer.operationId)
        const isKnown = observed !== undefined || Option.isSome(end)
        return { transfer, end, isKnown, isUnclear: Option.isNone(end) && observed?._tag !== "Open" }
      })

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

      const onTheWay = Effect.fnUntraced(function* (
        transfers: ReadonlyArray<Transfer>,
        blocks: ReadonlyMap<AccountId, bigint>
      ) {
        const standing = yield* Effect.forEach(transfers, standingOf, { concurrency: lookupConcurrency })
        return standing.filter(({ end, transfer }) => Option.isNone(end) || !hasArrived(transfer, end.value, blocks))
      })

      /** What had left by the block, of an intent; nothing when it is known as open. */
      const leftBy = Effect.fnUntraced(function* (
        { accountId, actionHash, attempt, runId, transfers }: TransferIntent,
        known: ReadonlyArray<Transfer>,
        block: bigint | undefined
      ) {
        if (block === undefined) return []
        const sent = yield* relays.sent({ operationId: runId, chainId: chainIdOf(accountId), attempt })
        const transaction = Option.match(sent, { onNone: () => null, onSome: (stored) => stored.transaction })
        const included = yield* arrivals.inclusionOf(accountId, actionHash, { transaction, block })
        if (Option.isNone(included) || included.value.blockNumber > block) return []
        return known.some(({ txHash }) => txHash === included.value.txHash) ? [] : transfers
      })

      /**
       * Fails when the chain of an account that was read does not answer; an account that was not read lacks nothing.
       */
      const left = Effect.fn("InTransit.left")(function* (
        { intents, open }: Ledger,
        blocks: ReadonlyMap<AccountId, bigint>
      ) {
        const taken = yield* Effect.forEach(intents, (intent) => leftBy(intent, open, blocks.get(intent.accountId)))
        return taken.flat()
      })

      const readLedger = Effect.fnUntraced(function* (portfolioId: PortfolioId) {
        const intents = yield* ledger.intentsOf(portfolioId)
        return { intents, open: yield* openOf([portfolioId]) } satisfies Ledger
      })

      return InTransit.of({
        readForPlans: Effect.fnUntraced(function* (portfolioIds, read) {
          const open = yield* openOf(portfolioIds)
          const { accounts, blocks } = yield* read(open)
          const coming = yield* onTheWay(open, blocks)
          return {
            accounts,
            onTheWay: coming.map(({ transfer }) => transfer),
            unclear: coming.filter(({ isUnclear }) => isUnclear).map(({ transfer }) => transfer)
          }
        }),
        readToShow: Effect.fn("InTransit.readToShow")(function* (portfolioId, read) {
          const known = yield* orNull(readLedger(portfolioId))
          const { accounts, blocks } = yield* read
          const outgoing = known && (yield* orNull(left(known, blocks)))
          const incoming = known && (yield* orNull(onTheWay(known.open, blocks)))
          return {
            accounts,
            transfers: [...(incoming ?? []).map(({ transfer }) => transfer), ...(outgoing ?? [])],
            areWhole: outgoing !== null && incoming !== null && incoming.every(({ isKnown }) => isKnown)
          }
        })
      })
    })
  ).pipe(Layer.provide(TransferWatcher.layer))
}

/** The ledger before accounts are read: the intents first, since one that is opened in between counts once. */
interface Ledger {
  readonly intents: ReadonlyArray<TransferIntent>
  readonly open: ReadonlyArray<Transfer>
}

const orNull = <A, E>(read: Effect.Effect<A, E>) =>
  Effect.catchCause(read, (cause) =>
    Cause.hasInterrupts(cause)
      ? Effect.interrupt
      : Effect.as(Effect.logError("What is between chains could not be read", cause), null)
  )
