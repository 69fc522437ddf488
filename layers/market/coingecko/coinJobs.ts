/** What is fetched from CoinGecko for the shared cache. */
import { Effect, Schema } from "effect"
import type { ListedAsset } from "#domain/asset/ListedAssets.ts"
import { type AssetId, addressOf, chainIdOf } from "#domain/Caip.ts"
import * as Datasets from "#domain/marketData/coinDatasets.ts"
import { type Dataset, MarketDataUnavailable, memberOf } from "#domain/marketData/Dataset.ts"
import { figureOf, priceOf } from "#domain/marketData/Figure.ts"
import type { FetchedData, MarketDataJob } from "#domain/marketData/MarketDataJobs.ts"
import type { PricesUnavailable } from "#domain/market/Prices.ts"
import type { CoinGeckoClient } from "#layers/market/CoinGeckoClient.ts"
import type { CoinGeckoPlatforms } from "#layers/market/CoinGeckoPlatforms.ts"
import * as Rows from "#layers/market/coingecko/rows.ts"
import { fetchedItems, readItems } from "#layers/market/readItems.ts"

/** Ids or contracts in one request. */
const perRequest = 100
const List = Schema.Array(Schema.Unknown)

const candleDays = { day: "1", month: "30", year: "365" } as const satisfies Record<Datasets.CandleSpan, string>

const unavailable = ({ reason }: PricesUnavailable) => new MarketDataUnavailable({ reason })

const chunksOf = <A>(items: ReadonlyArray<A>): ReadonlyArray<ReadonlyArray<A>> =>
  Array.from({ length: Math.ceil(items.length / perRequest) }, (_, index) =>
    items.slice(index * perRequest, (index + 1) * perRequest)
  )

const isOnEvm = (asset: ListedAsset): asset is ListedAsset & { readonly caipAssetId: AssetId } =>
  asset.caipAssetId.startsWith("eip155:")

export const coinJobs = (
  client: CoinGeckoClient["Service"],
  platforms: CoinGeckoPlatforms["Service"],
  options: { readonly isPaid: boolean; readonly coinIds: ReadonlyArray<string> }
) => {
  const get = <A>(path: string, params: Record<string, string>, schema: Schema.Decoder<A>) =>
    Effect.mapError(client.get(path, params, schema), unavailable)

  const job = (
    { interval, name, provider }: Dataset<unknown>,
    priority: number,
    fetch: Effect.Effect<FetchedData, MarketDataUnavailable>,
    key?: string
  ): MarketDataJob => ({
    name: key === undefined ? name : memberOf({ name }, key),
    provider,
    interval,
    priority,
    fetch
  })

  const whole = <A>(
    fetch: Effect.Effect<A, MarketDataUnavailable>
  ): Effect.Effect<FetchedData, MarketDataUnavailable> => Effect.map(fetch, (data) => ({ data, problems: [] }))

  const markets = (params: Record<string, string>) =>
    Effect.map(
      get(
        "/coins/markets",
        { vs_currency: "usd", price_change_percentage: "1h,24h,7d", sparkline: "true", precision: "full", ...params },
        List
      ),
      (rows) => fetchedItems(Rows.CoinRow, rows, Rows.toCoin)
    )

  const market: ReadonlyArray<MarketDataJob> = [
    ...Datasets.topPages.map((page) =>
      job(
        Datasets.coinMarkets,
        0,
        markets({ order: "market_cap_desc", per_page: String(Datasets.coinsPerPage), page }),
        page
      )
    ),
    job(
      Datasets.coinMarkets,
      0,
      markets({ ids: options.coinIds.join(","), per_page: String(Datasets.coinsPerPage), page: "1" }),
      Datasets.listedPage
    ),
    job(Datasets.globalMarket, 0, whole(Effect.map(get("/global", {}, Rows.GlobalAnswer), Rows.toGlobal))),
    job(
      Datasets.defiMarket,
      0,
      whole(Effect.map(get("/global/decentralized_finance_defi", {}, Rows.GlobalAnswer), Rows.toDefi))
    ),
    job(
      Datasets.marketCategories,
      0,
      Effect.map(get("/coins/categories", {}, List), (rows) => fetchedItems(Rows.CategoryRow, rows, Rows.toCategory))
    ),
    job(
      Datasets.coinCategories,
      0,
      Effect.map(get("/coins/categories/list", {}, List), (rows) =>
        fetchedItems(Rows.NamedCategoryRow, rows, ({ category_id, name }) => ({ id: category_id, name }))
      )
    ),
    job(
      Datasets.trending,
      0,
      Effect.map(get("/search/trending", {}, Rows.TrendingAnswer), ({ categories = [], coins }) => {
        const readCoins = readItems(Rows.TrendingCoinRow, coins, Rows.toTrendingCoin)
        const readCategories = readItems(Rows.TrendingCategoryRow, categories, Rows.toTrendingCategory)
        return {
          data: { coins: readCoins.items, categories: readCategories.items },
          problems: [...readCoins.problems, ...readCategories.problems]
        }
      })
    ),
    job(
      Datasets.assetPlatforms,
      0,
      Effect.map(get("/asset_platforms", {}, List), (rows) => fetchedItems(Rows.PlatformRow, rows, Rows.toPlatform))
    ),
    ...(options.isPaid
      ? [
          job(
            Datasets.news,
            0,
            Effect.map(get("/news", { page: "1", per_page: "20" }, List), (rows) =>
              fetchedItems(Rows.NewsRow, rows, Rows.toArticle)
            )
          )
        ]
      : [])
  ]

  const candles = Datasets.candleSpans.flatMap((span) =>
    options.coinIds.map((coinId) =>
      job(
        Datasets.coinCandles(span),
        span === "day" ? 2 : 3,
        Effect.map(
          get(`/coins/${encodeURIComponent(coinId)}/ohlc`, { vs_currency: "usd", days: candleDays[span] }, List),
          (rows) => fetchedItems(Rows.OhlcRow, rows, Rows.toCandle)
        ),
        coinId
      )
    )
  )

  const tokenPrices = (chainId: number, assets: ReadonlyArray<AssetId>) =>
    Effect.gen(function* () {
      const platform = yield* Effect.mapError(platforms.of(chainId as never), unavailable)
      if (platform === undefined) return { data: [], problems: [] }
      const rows = yield* get(
        `/simple/token_price/${platform}`,
        {
          contract_addresses: assets.map((assetId) => addressOf(assetId).toLowerCase()).join(","),
          vs_currencies: "usd",
          include_market_cap: "true",
          include_24hr_vol: "true",
          include_24hr_change: "true",
          include_last_updated_at: "true",
          precision: "full"
        },
        Schema.Record(Schema.String, Schema.Unknown)
      )
      const byAddress = new Map(Object.entries(rows).map(([address, row]) => [address.toLowerCase(), row]))
      const known = assets.filter((assetId) => byAddress.has(addressOf(assetId).toLowerCase()))
      return fetchedItems(
        Rows.TokenPriceRow,
        known.map((assetId) => byAddress.get(addressOf(assetId).toLowerCase())),
        (row, index): Datasets.TokenMarket | undefined => {
          const price = priceOf(row.usd)
          if (price === null) return undefined
          return {
            assetId: `${addressOf(known[index]!)}:${chainId}`,
            priceUsd: price,
            priceChangePercentage24h: figureOf(row.usd_24h_change),
            marketCapUsd: priceOf(row.usd_market_cap),
            volume24hUsd: figureOf(row.usd_24h_vol),
            updatedAt: Rows.timeOf(row.last_updated_at)
          }
        }
      )
    })

  /** Tokens in the order of their ids, so that a request names the same ones each time. */
  const ofTokens = (listed: ReadonlyArray<ListedAsset>): ReadonlyArray<MarketDataJob> => {
    const ids = listed.filter(isOnEvm).map(({ caipAssetId }) => caipAssetId)
    return [...Map.groupBy(ids.sort(), chainIdOf)].flatMap(([chainId, assets]) =>
      chunksOf(assets).map((chunk, index) =>
        job(Datasets.tokenMarkets, 1, tokenPrices(chainId, chunk), `${chainId}-${index}`)
      )
    )
  }

  return (listed: ReadonlyArray<ListedAsset>): ReadonlyArray<MarketDataJob> => [
    ...market,
    ...ofTokens(listed),
    ...candles
  ]
}
