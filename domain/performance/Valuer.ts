/**
 * Values every live portfolio, several times a day.
 *
 * A pass walks over all portfolios in batches and claims each, so that processes share the work. A portfolio of which
 * anything could not be read is left for the next pass: an unknown balance or price is never written as zero, and an
 * old price is never taken for one of now. A crash in the middle of a batch loses that pass, and the next one covers
 * the time of both.
 *
 * A transfer between chains is waited for as well, since most take minutes; one that takes longer counts as what it is
 * expected to bring.
 */
import { Context, DateTime, Duration, Effect, Layer } from "effect"
import type { Asset } from "#domain/asset/Asset.ts"
import { Assets } from "#domain/asset/Assets.ts"
import { type ChainId, chainIdOf, type AccountId } from "#domain/values/Caip.ts"
import { Balances } from "#domain/chain/Balances.ts"
import { Chains } from "#domain/chain/Chains.ts"
import { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import type { PortfolioId } from "#domain/values/Ids.ts"
import { keepGoingEvery } from "#domain/effects/keepGoing.ts"
import { Prices } from "#domain/market/Prices.ts"
import { PriceSettings } from "#domain/market/PriceSettings.ts"
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
import { type ClaimedPortfolio, ValuationStore } from "#domain/performance/ValuationStore.ts"
import { ValuationSettings } from "#domain/performance/ValuationSettings.ts"

const concurrency = 8
/** A chain that failed this often in a row is left alone for the rest of the pass. */
const maxFailures = 3
/** A portfolio waits this long for a transfer to end, longer than one usually takes. */
const transferTimeout = Duration.minutes(90)
/** What is shared by the readings of one pass. */
interface Pass {
  readonly catalogue: ReadonlyMap<ChainId, ReadonlyArray<Asset>>
  readonly failures: ReturnType<typeof countFailures>
}

/** Failed readings in a row, by chain. */
const countFailures = () => {
  const counts = new Map<ChainId, number>()
  return {
    of: (chainId: ChainId) => counts.get(chainId) ?? 0,
    add: (chainId: ChainId) => Effect.sync(() => void counts.set(chainId, (counts.get(chainId) ?? 0) + 1)),
    reset: (chainId: ChainId) => Effect.sync(() => void counts.delete(chainId))
  }
}

/** How many portfolios a pass valued, and how many it could not. */
export interface PassResult {
  readonly valued: number
  readonly missed: number
}

/**
 * Values every portfolio, several times a day.
 *
 * **When to use**
 *
 * Use `fiber` in the composition of the service, and `pass` in tests.
 */
export class Valuer extends Context.Service<
  Valuer,
  {
    /** Values each live portfolio that no process has claimed lately. */
    readonly pass: Effect.Effect<PassResult>
  }
>()("ballast/domain/performance/Valuer") {
  static readonly layer = Layer.effect(
    Valuer,
    Effect.gen(function* () {
      const store = yield* ValuationStore
      const assets = yield* Assets
      const chains = yield* Chains
      const balances = yield* Balances
      const prices = yield* Prices
      const { maxAgeMs } = yield* PriceSettings
      const valuation = yield* ValuationSettings

      const readAccount = Effect.fnUntraced(function* (account: AccountId, { catalogue, failures }: Pass) {
        const chainId = chainIdOf(account)
        const onChain = catalogue.get(chainId)
        if (onChain === undefined)
          return yield* new ChainUnavailable({ chainId, reason: "it is not supported any more" })
        if (failures.of(chainId) >= maxFailures)
          return yield* new ChainUnavailable({ chainId, reason: "it failed before in this pass" })
        const read = yield* balances
          .read(
            account,
            onChain.map(({ assetId }) => assetId)
          )
          .pipe(Effect.tapError(() => failures.add(chainId)))
        yield* failures.reset(chainId)
        return readingFrom(account, read)
      })

      const readPortfolio = (portfolio: ClaimedPortfolio, pass: Pass) =>
        Effect.forEach(portfolio.accountIds, (account) => readAccount(account, pass), {
          concurrency: "unbounded"
        }).pipe(
          Effect.map((accounts): ReadonlyArray<PortfolioReading> => [{ portfolio, accounts }]),
          Effect.catchTag("ChainUnavailable", () => Effect.succeed([]))
        )

      const valueBatch = Effect.fnUntraced(function* (portfolios: ReadonlyArray<ClaimedPortfolio>, pass: Pass) {
        const read = yield* Effect.forEach(portfolios, (portfolio) => readPortfolio(portfolio, pass), { concurrency })
        const readings = read
          .flat()
          .filter(({ accounts, portfolio }) => accounts.every((account) => isForward(portfolio, account)))
        // After the balances: whatever is in them is then known to be confirmed, under way or to have left.
        const openedBefore = DateTime.subtractDuration(yield* DateTime.now, transferTimeout)
        const trades = yield* store.trades(readings.flatMap(spansOf), openedBefore)
        const outgoing = yield* store.outgoing(
          readings.flatMap(({ accounts }) => accounts),
          readings.flatMap(({ portfolio }) => knownTransfers(portfolio))
        )
        const latest = yield* prices.latest([
          ...new Set([...readings.flatMap(pricedFor), ...outgoing.map(({ assetId }) => assetId)])
        ])
        const valuedAt = yield* DateTime.now
        const catalogue = new Map([...pass.catalogue.values()].flat().map((asset) => [asset.assetId, asset]))
        const staleBefore = valuedAt.epochMilliseconds - maxAgeMs
        const targets = yield* store.targets(withUnbacked(readings, { catalogue, prices: latest }))
        const inputs = { trades, outgoing, catalogue, prices: latest, staleBefore, targets }
        return {
          valuedAt,
          valuations: readings
            .filter(({ accounts }) => accounts.every(({ accountId }) => !trades.pending.has(accountId)))
            .flatMap((reading) => valuationOf(reading, inputs))
        }
      })

      const pass = Effect.gen(function* () {
        const onChains = yield* Effect.forEach(chains.supported, (chainId) =>
          Effect.map(assets.onChain(chainId), (ofChain) => [chainId, ofChain] as const)
        )
        const shared: Pass = { catalogue: new Map(onChains), failures: countFailures() }
        const result = { valued: 0, missed: 0 }
        let after: PortfolioId | null = null
        do {
          const now: DateTime.Utc = yield* DateTime.now
          const page: Effect.Success<ReturnType<typeof store.claim>> = yield* store.claim({
            after,
            limit: valuation.batch,
            now,
            claimedBefore: DateTime.subtract(now, { milliseconds: valuation.intervalMs / 2 })
          })
          const { valuations, valuedAt } = yield* valueBatch(page.claimed, shared)
          yield* store.record(now, valuedAt, valuations)
          result.valued += valuations.length
          result.missed += page.claimed.length - valuations.length
          after = page.last
        } while (after !== null)
        if (result.missed > 0) yield* Effect.logWarning("Some portfolios could not be valued in this pass", result)
        return result
      }).pipe(
        Effect.catchTag("PricesUnavailable", ({ message }) =>
          Effect.as(Effect.logWarning(`Portfolios are not valued in this pass: ${message}`), { valued: 0, missed: 0 })
        ),
        Effect.withSpan("Valuer.pass")
      )

      return Valuer.of({ pass })
    })
  )

  /** The fiber that values for as long as the layer lives; a failed pass is logged and the next one tries again. */
  static readonly fiber = Layer.effectDiscard(
    Effect.gen(function* () {
      const valuer = yield* Valuer
      const valuation = yield* ValuationSettings
      yield* keepGoingEvery(valuer.pass, {
        complaint: "Portfolios could not be valued",
        interval: Duration.millis(valuation.intervalMs)
      })
    })
  )
}
