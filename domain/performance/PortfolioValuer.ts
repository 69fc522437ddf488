/**
 * Values one portfolio at the moment that it matters: when a plan has been made from its balances, before the plan is
 * acted on, and when what was done is confirmed. So money that came in is cash flow before it is traded, and the cost
 * of the trade is a loss of all that was there.
 *
 * An account that could not be read, or of which it is not known yet what a transaction did to it, counts as it was at
 * its last valuation, with its own blocks: its trades and flows wait for the next valuation that reads it.
 *
 * Valuations are linked by what was there at the one before, so one more changes nothing, and a step that takes one may
 * be repeated.
 */
import { Context, DateTime, Duration, Effect, Layer, Metric, Option } from "effect"
import { Assets } from "#domain/asset/Assets.ts"
import { chainIdOf, type AccountId } from "#domain/values/Caip.ts"
import { Balances } from "#domain/chain/Balances.ts"
import type { PortfolioId } from "#domain/values/Ids.ts"
import { Prices } from "#domain/market/Prices.ts"
import { PriceSettings } from "#domain/market/PriceSettings.ts"
import * as Metrics from "#domain/effects/Metrics.ts"
import {
  isForward,
  knownTransfers,
  type PortfolioReading,
  pricedFor,
  readingFrom,
  spansOf,
  valuationOf,
  withUnbacked
} from "#domain/performance/PortfolioReading.ts"
import type { AccountSnapshot } from "#domain/performance/Valuation.ts"
import { TransientFault } from "#domain/errors/TransientFault.ts"
import { type ClaimedPortfolio, type TakenPortfolio, ValuationStore } from "#domain/performance/ValuationStore.ts"
import type { AccountReading } from "#domain/performance/valuePortfolio.ts"

/** How often a valuation is tried while others of the same portfolio are written in between. */
const tries = 3
/** A chain that does not answer by then is left to the next valuation. */
const readTimeout = Duration.seconds(3)

/**
 * Values one portfolio at a moment that matters.
 *
 * **When to use**
 *
 * Use in runs, before they trade and after. The regular valuation of all portfolios is `Valuer`.
 */
export class PortfolioValuer extends Context.Service<
  PortfolioValuer,
  {
    /**
     * Values a portfolio from balances that were read for something else. Never fails; false when it could not be
     * valued.
     */
    readonly valueFrom: (portfolioId: PortfolioId, accounts: ReadonlyArray<AccountReading>) => Effect.Effect<boolean>
    /** Reads the balances first. */
    readonly value: (portfolioId: PortfolioId) => Effect.Effect<boolean>
  }
>()("ballast/domain/performance/PortfolioValuer") {
  static readonly layer = Layer.effect(
    PortfolioValuer,
    Effect.gen(function* () {
      const store = yield* ValuationStore
      const assets = yield* Assets
      const balances = yield* Balances
      const prices = yield* Prices
      const { maxAgeMs } = yield* PriceSettings
      const isTransient = yield* TransientFault

      /** An account with a pending trade counts as it was; none when nothing else is left. */
      const knownReading = Effect.fnUntraced(function* ({ accounts: read, portfolio }: PortfolioReading) {
        let accounts = read
        // Each round takes at least one more account as it was.
        while (accounts.some((account) => isNew(portfolio, account))) {
          const trades = yield* store.trades(spansOf({ portfolio, accounts }), yield* DateTime.now)
          const isPending = (account: AccountReading) =>
            isNew(portfolio, account) && trades.pending.has(account.accountId)
          if (!accounts.some(isPending)) return Option.some({ reading: { portfolio, accounts }, trades })
          const rest = accounts.filter((account) => !isPending(account))
          const whole = readingOf(portfolio, rest)
          if (whole === undefined) return Option.none()
          accounts = whole.accounts
        }
        return Option.none()
      })

      const valuationsOf = Effect.fnUntraced(function* (wanted: PortfolioReading) {
        const known = yield* knownReading(wanted)
        if (Option.isNone(known)) return []
        const { reading, trades } = known.value
        const outgoing = yield* store.outgoing(reading.accounts, knownTransfers(reading.portfolio))
        const assetIds = [
          ...new Set([
            ...pricedFor(reading),
            ...outgoing.map(({ assetId }) => assetId),
            ...[...trades.confirmed.values()].flatMap((deltas) => [...deltas.keys()])
          ])
        ]
        const latest = yield* prices.latest(assetIds)
        const catalogue = yield* assets.find(assetIds)
        const staleBefore = (yield* DateTime.now).epochMilliseconds - maxAgeMs
        const targets = yield* store.targets(withUnbacked([reading], { catalogue, prices: latest }))
        return valuationOf(reading, { trades, outgoing, catalogue, prices: latest, staleBefore, targets })
      })

      const valueTaken = Effect.fnUntraced(function* (
        { claimedAt, portfolio }: TakenPortfolio,
        read: ReadonlyArray<AccountReading>
      ) {
        const reading = readingOf(portfolio, read)
        const valuations = reading === undefined ? [] : yield* valuationsOf(reading)
        if (valuations.length === 0) return "missed"
        const written = yield* store.record(claimedAt, yield* DateTime.now, valuations)
        return written.size > 0 ? "valued" : "overtaken"
      })

      const attempt = Effect.fnUntraced(function* (portfolioId: PortfolioId, read: ReadonlyArray<AccountReading>) {
        for (let number = 1; number <= tries; number++) {
          const taken = yield* store.take(portfolioId, yield* DateTime.now)
          if (Option.isNone(taken)) return "missed"
          const outcome = yield* valueTaken(taken.value, read)
          if (outcome !== "overtaken") return outcome
        }
        return "missed"
      })

      /** A run goes on without a valuation: the next one covers the time of both. */
      const counted = (portfolioId: PortfolioId, valuing: ReturnType<typeof attempt>) =>
        valuing.pipe(
          Effect.catch(({ message }) => Effect.as(Effect.logWarning(message), "missed" as const)),
          Effect.catchDefect((defect) =>
            Effect.as(
              isTransient(defect)
                ? Effect.logWarning("The database did not answer a valuation", defect)
                : Effect.logError("A valuation failed by a fault of the service", defect),
              "missed" as const
            )
          ),
          Effect.tap((outcome) => Metric.update(Metric.withAttributes(Metrics.runValuations, { outcome }), 1)),
          Effect.map((outcome) => outcome === "valued"),
          Effect.annotateLogs({ portfolioId })
        )

      const readAccount = Effect.fnUntraced(function* (account: AccountId) {
        const catalogue = yield* assets.onChain(chainIdOf(account))
        const assetIds = catalogue.map(({ assetId }) => assetId)
        return readingFrom(account, yield* balances.read(account, assetIds))
      })

      const readAll = Effect.fnUntraced(function* (portfolioId: PortfolioId) {
        const accountIds = yield* store.accountsOf(portfolioId)
        const read = yield* Effect.forEach(
          accountIds,
          (account) => Effect.option(Effect.timeout(readAccount(account), readTimeout)),
          { concurrency: "unbounded" }
        )
        return read.flatMap(Option.toArray)
      })

      return PortfolioValuer.of({
        valueFrom: (portfolioId, accounts) => counted(portfolioId, attempt(portfolioId, accounts)),
        value: Effect.fn("PortfolioValuer.value")((portfolioId) =>
          counted(
            portfolioId,
            Effect.flatMap(readAll(portfolioId), (accounts) => attempt(portfolioId, accounts))
          )
        )
      })
    })
  )
}

const asItWas = ({ accountId, blockNumber, holdings }: AccountSnapshot): AccountReading => ({
  accountId,
  blockNumber,
  balances: new Map(holdings.map(({ assetId, raw }) => [assetId, raw]))
})

/** Something may have happened to the account since the last valuation that counts in this reading of it. */
const isNew = ({ before }: ClaimedPortfolio, { accountId, blockNumber }: AccountReading): boolean =>
  before.get(accountId)?.blockNumber !== blockNumber

/**
 * All accounts of the portfolio, those that were not read as they were; undefined when one of them was never valued.
 */
const readingOf = (portfolio: ClaimedPortfolio, read: ReadonlyArray<AccountReading>): PortfolioReading | undefined => {
  const accounts = portfolio.accountIds.flatMap((accountId) => {
    const account = read.find((one) => one.accountId === accountId && isForward(portfolio, one))
    const last = portfolio.before.get(accountId)
    return account !== undefined ? [account] : last !== undefined ? [asItWas(last)] : []
  })
  return accounts.length === portfolio.accountIds.length ? { portfolio, accounts } : undefined
}
