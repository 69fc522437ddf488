/** What was read of a portfolio's accounts, and what must be known beside it to value the portfolio. */
import { type Asset, unbackedValue } from "#domain/asset/Asset.ts"
import { type AssetId, type AccountId, type HeldAssetId, isNative, type NativeAssetId } from "#domain/values/Caip.ts"
import { type AccountBalances, holdingsIn } from "#domain/chain/Balances.ts"
import { nativeDecimals, pricedAs } from "#domain/chain/nativeCoins.ts"
import type { OperationId, PortfolioId } from "#domain/values/Ids.ts"
import { isFresh, type Price } from "#domain/market/Prices.ts"
import type { PortfolioValuation, Valuation } from "#domain/performance/Valuation.ts"
import type { BlockSpan, ClaimedPortfolio, OutgoingValue, Trades } from "#domain/performance/ValuationStore.ts"
import { type AccountReading, valuePortfolio } from "#domain/performance/valuePortfolio.ts"

/** A portfolio with all its accounts read. */
export interface PortfolioReading {
  readonly portfolio: ClaimedPortfolio
  readonly accounts: ReadonlyArray<AccountReading>
}

/** What is known beside the readings. */
export interface ValuationInputs {
  readonly trades: Trades
  readonly outgoing: ReadonlyArray<OutgoingValue>
  readonly catalogue: ReadonlyMap<AssetId, Asset>
  readonly prices: ReadonlyMap<AssetId, Price>
  /** Time (milliseconds since 1970) before which a price is too old to count as present. */
  readonly staleBefore: number
  /** Assets of the strategies of the portfolios in `withUnbacked`. */
  readonly targets: ReadonlyMap<PortfolioId, ReadonlySet<AssetId>>
}

type Known = Pick<ValuationInputs, "catalogue" | "prices">

/** Assets of which an account holds more than their market backs. */
const unbackedIn = ({ accounts }: PortfolioReading, { catalogue, prices }: Known): ReadonlyArray<AssetId> =>
  accounts.flatMap(({ balances }) =>
    [...balances].flatMap(([assetId, raw]) => {
      if (isNative(assetId)) return []
      const [asset, price] = [catalogue.get(assetId), prices.get(assetId)]
      const isUnbacked =
        asset !== undefined && price !== undefined && unbackedValue(asset, raw ?? 0n, price.usd) !== undefined
      return isUnbacked ? [assetId] : []
    })
  )

/** The portfolios with such an asset: what their strategies name counts all the same. */
export const withUnbacked = (readings: ReadonlyArray<PortfolioReading>, known: Known): ReadonlyArray<PortfolioId> =>
  readings.flatMap((reading) => (unbackedIn(reading, known).length === 0 ? [] : [reading.portfolio.portfolioId]))

/** No real value comes near it; a token with a false supply or price must not stop the others. */
const limitUsd = 10n ** 45n

/** What was read of an account, as valuations take it. */
export const readingFrom = (
  accountId: AccountId,
  read: Pick<AccountBalances, "balances" | "blockNumber" | "native">
): AccountReading => ({ accountId, blockNumber: read.blockNumber, balances: holdingsIn(read) })

/** The account was not read at an earlier block than the last time, as a node that lags behind answers. */
export const isForward = ({ before }: ClaimedPortfolio, { accountId, blockNumber }: AccountReading): boolean =>
  blockNumber >= (before.get(accountId)?.blockNumber ?? 0n)

/** Held now or at the last valuation. */
const heldIn = ({ accounts, portfolio }: PortfolioReading): ReadonlyArray<HeldAssetId> => [
  ...accounts.flatMap(({ balances }) => [...balances].flatMap(([assetId, raw]) => (raw ? [assetId] : []))),
  ...[...portfolio.before.values()].flatMap(({ holdings }) => holdings.map(({ assetId }) => assetId))
]

/** The assets whose prices value what is held now, and what was held at the last valuation. */
export const pricedFor = (reading: PortfolioReading): ReadonlyArray<AssetId> =>
  heldIn(reading).flatMap((assetId) => pricedAs(assetId) ?? [])

/** What is known of tokens, and for each native coin that is held what is known of the token that wraps it. */
const withCoins = <A>(
  known: ReadonlyMap<AssetId, A>,
  coins: ReadonlyArray<NativeAssetId>
): ReadonlyMap<HeldAssetId, A> => {
  const all = new Map<HeldAssetId, A>(known)
  for (const coin of coins) {
    const token = pricedAs(coin)
    const value = token === undefined ? undefined : known.get(token)
    if (value !== undefined) all.set(coin, value)
  }
  return all
}

/** Transfers that counted as on their way at the last valuation. */
export const knownTransfers = ({ before }: ClaimedPortfolio): ReadonlyArray<OperationId> =>
  [...before.values()].flatMap(({ incoming = [] }) => incoming.map(({ operationId }) => operationId))

export const spansOf = ({ accounts, portfolio }: PortfolioReading): ReadonlyArray<BlockSpan> =>
  accounts.map(({ accountId, blockNumber }) => ({
    accountId,
    after: portfolio.before.get(accountId)?.blockNumber ?? null,
    through: blockNumber
  }))

const isPlausible = ({ cashFlowUsd, growth, valueUsd }: Valuation): boolean =>
  valueUsd < limitUsd && cashFlowUsd < limitUsd && cashFlowUsd > -limitUsd && (growth ?? 0n) < limitUsd

/** The catalogue without what nobody asked for and no market backs: it counts as what is not listed does. */
const countedIn = (
  reading: PortfolioReading,
  { catalogue, outgoing, prices, targets }: ValuationInputs
): ReadonlyMap<AssetId, Asset> => {
  const wanted = new Set([
    ...(targets.get(reading.portfolio.portfolioId) ?? []),
    ...outgoing.map(({ assetId }) => assetId)
  ])
  const left = new Set(unbackedIn(reading, { catalogue, prices }).filter((assetId) => !wanted.has(assetId)))
  return left.size === 0 ? catalogue : new Map([...catalogue].filter(([assetId]) => !left.has(assetId)))
}

/** Nothing for a portfolio whose valuation would not be right: a balance is missing, or a price of now. */
export const valuationOf = (reading: PortfolioReading, inputs: ValuationInputs): ReadonlyArray<PortfolioValuation> => {
  const { accounts, portfolio } = reading
  const {
    outgoing,
    prices: known,
    staleBefore,
    trades: { confirmed }
  } = inputs
  const coins = heldIn(reading).filter(isNative)
  const prices = withCoins(known, coins)
  const own = outgoing.filter(({ sourceId }) => portfolio.accountIds.includes(sourceId))
  const fresh = [...prices].filter(([, price]) => isFresh(price, staleBefore))
  const lapsed = [...prices].filter(([, price]) => !isFresh(price, staleBefore))
  const valuation = valuePortfolio({
    before: portfolio.before,
    now: accounts,
    traded: confirmed,
    outgoing: own,
    catalogue: new Map<HeldAssetId, Pick<Asset, "decimals">>([
      ...countedIn(reading, inputs),
      ...coins.map((coin) => [coin, { decimals: nativeDecimals }] as const)
    ]),
    prices: new Map(fresh.map(([assetId, { usd }]) => [assetId, usd])),
    lapsed: new Set(lapsed.map(([assetId]) => assetId))
  })
  return valuation === null || !isPlausible(valuation) ? [] : [{ portfolioId: portfolio.portfolioId, ...valuation }]
}
