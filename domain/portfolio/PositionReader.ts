/**
 * Reads positions from the chains, one request a chain, and keeps them up to 30 seconds, two while something is in
 * transit.
 *
 * The cache is keyed by the portfolio's last change, so a finished rebalance shows at once, and a reading in which a
 * chain or the prices failed is kept for two seconds only. Source: interface "Positions", rules 1 to 4.
 */
import { Cache, Context, DateTime, Duration, Effect, Equal, Exit, Hash, Layer, Option, Result } from "effect"
import { Assets } from "#domain/asset/Assets.ts"
import { type AssetId, chainIdOf, type AccountId } from "#domain/values/Caip.ts"
import { Balances } from "#domain/chain/Balances.ts"
import { nativeCoinOn } from "#domain/chain/nativeCoins.ts"
import type { NotFound } from "#domain/errors/Errors.ts"
import type { PortfolioTenant } from "#domain/identity/access/PortfolioTenant.ts"
import type { PortfolioId } from "#domain/values/Ids.ts"
import { type Price, Prices } from "#domain/market/Prices.ts"
import { PriceSettings } from "#domain/market/PriceSettings.ts"
import { type AccountAnswer, assemblePositions } from "#domain/portfolio/assemblePositions.ts"
import type { Portfolio } from "#domain/portfolio/Portfolio.ts"
import { Portfolios } from "#domain/portfolio/Portfolios.ts"
import type { Positions, WarningKind } from "#domain/portfolio/Positions.ts"
import { UnlistedHoldings } from "#domain/portfolio/UnlistedHoldings.ts"
import { InTransit } from "#domain/transfer/InTransit.ts"
import { StrategyStore } from "#domain/strategy/StrategyStore.ts"

const timeToLive = Duration.seconds(30)
const partialTimeToLive = Duration.seconds(2)
const kept = 10_000
const priceConcurrency = 8

/** A portfolio as a cache key: equal while nothing about it changed. */
class Snapshot implements Equal.Equal {
  readonly portfolio: Portfolio
  constructor(portfolio: Portfolio) {
    this.portfolio = portfolio
  }
  [Equal.symbol](that: Equal.Equal): boolean {
    return (
      that instanceof Snapshot &&
      that.portfolio.portfolioId === this.portfolio.portfolioId &&
      that.portfolio.updatedAt.epochMilliseconds === this.portfolio.updatedAt.epochMilliseconds
    )
  }
  [Hash.symbol](): number {
    return Hash.string(this.portfolio.portfolioId)
  }
}

const passing: ReadonlySet<WarningKind> = new Set([
  "RPC_ERROR",
  "STALE_BALANCES",
  "MISSING_PRICE",
  "IN_TRANSIT_READ_FAILED"
])

/** Whether a reading holds for a while: nothing failed, and nothing is about to arrive. */
const isWhole = (positions: Positions) =>
  positions.inTransit.items.length === 0 && positions.warnings.every(({ kind }) => !passing.has(kind))

/**
 * What a portfolio holds, and what it is worth.
 *
 * **When to use**
 *
 * Use to show positions. What acts on balances reads `Balances` itself, since an answer here may be 30 seconds old.
 */
export class PositionReader extends Context.Service<
  PositionReader,
  {
    /** Never fails for a reason outside the service: what could not be read is in the warnings. */
    readonly read: (portfolioId: PortfolioId) => Effect.Effect<Positions, NotFound, PortfolioTenant>
  }
>()("ballast/domain/portfolio/PositionReader") {
  static readonly layer = Layer.effect(
    PositionReader,
    Effect.gen(function* () {
      const portfolios = yield* Portfolios
      const strategies = yield* StrategyStore
      const assets = yield* Assets
      const balances = yield* Balances
      const unlisted = yield* UnlistedHoldings
      const prices = yield* Prices
      const { maxAgeMs: priceMaxAgeMs } = yield* PriceSettings
      const inTransit = yield* InTransit

      const readAccount = Effect.fnUntraced(function* (account: AccountId) {
        const catalogue = yield* assets.onChain(chainIdOf(account))
        const listed = catalogue.map(({ assetId }) => assetId)
        const reading = yield* Effect.result(
          Effect.all([balances.read(account, listed, { takesOld: true }), unlisted.of(account, new Set(listed))], {
            concurrency: "unbounded"
          })
        )
        if (Result.isFailure(reading)) {
          const result: AccountAnswer["result"] = { _tag: "Failed", reason: reading.failure.reason }
          return { account, result, catalogue, block: null }
        }
        const [read, others] = reading.success
        const { native, oldBecause } = read
        const coin = nativeCoinOn(chainIdOf(account))
        const result: AccountAnswer["result"] = {
          _tag: "Read",
          balances: read.balances,
          ...(native?.raw && coin !== undefined ? { native: { coin, raw: native.raw } } : {}),
          unlisted: others,
          ...(read.authorities === undefined ? {} : { authorities: read.authorities }),
          ...(oldBecause === undefined ? {} : { oldBecause })
        }
        return { account, result, catalogue, block: read.blockNumber }
      })

      const readAccounts = ({ smartAccounts }: Portfolio) =>
        Effect.forEach(smartAccounts, readAccount, { concurrency: "unbounded" }).pipe(
          Effect.map((accounts) => ({
            accounts,
            blocks: new Map(accounts.flatMap(({ account, block }) => (block === null ? [] : [[account, block]])))
          }))
        )

      /** One that no process ever had an answer of costs the others nothing. */
      const readPrices = (assetIds: ReadonlyArray<AssetId>) =>
        Effect.catch(prices.latest(assetIds), () =>
          Effect.map(
            Effect.forEach(
              new Set(assetIds),
              (assetId) => Effect.orElseSucceed(prices.latest([assetId]), (): ReadonlyMap<AssetId, Price> => new Map()),
              { concurrency: priceConcurrency }
            ),
            (found) => new Map(found.flatMap((one) => [...one]))
          )
        )

      const readPortfolio = Effect.fn("PositionReader.readPortfolio")(function* (portfolio: Portfolio) {
        const strategy = yield* strategies.find(portfolio.strategyId)
        const targets = Option.match(strategy, {
          onNone: (): ReadonlyArray<AssetId> => [],
          onSome: ({ allocation }) => allocation.map(({ assetId }) => assetId)
        })
        const { accounts, areWhole, transfers } = yield* inTransit.readToShow(
          portfolio.portfolioId,
          readAccounts(portfolio)
        )
        const held = accounts.flatMap(({ result }) =>
          result._tag === "Read"
            ? [
                ...result.balances.flatMap(({ assetId, raw }) => (raw === null || raw === 0n ? [] : [assetId])),
                ...(result.native === undefined ? [] : [result.native.coin.wrapped])
              ]
            : []
        )
        const priced = [...held, ...transfers.map(({ sell }) => sell)]
        const known = yield* readPrices(priced)
        return assemblePositions(portfolio, {
          accounts,
          catalogue: new Map(
            accounts.flatMap(({ catalogue }) => catalogue.map((asset) => [asset.assetId, asset] as const))
          ),
          prices: known,
          targets,
          transfers,
          transfersAreWhole: areWhole,
          fetchedAt: yield* DateTime.now,
          priceMaxAgeMs
        })
      })

      const memory = yield* Cache.makeWith(({ portfolio }: Snapshot) => readPortfolio(portfolio), {
        capacity: kept,
        timeToLive: (exit) => (Exit.isSuccess(exit) && isWhole(exit.value) ? timeToLive : partialTimeToLive)
      })

      const read = Effect.fn("PositionReader.read")(function* (portfolioId: PortfolioId) {
        return yield* Cache.get(memory, new Snapshot(yield* portfolios.get(portfolioId)))
      })

      return PositionReader.of({ read })
    })
  )
}
