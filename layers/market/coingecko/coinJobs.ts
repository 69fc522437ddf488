/** What is fetched from CoinGecko for the shared cache. */
import { Effect, Schema } from "effect"
import type { ListedAsset } from "#domain/asset/ListedAssets.ts"
import { keyOf } from "#domain/listing/AssetKey.ts"
import * as Datasets from "#domain/marketData/coinDatasets.ts"
import { MarketDataUnavailable } from "#domain/marketData/Dataset.ts"
import { figureOf, priceOf } from "#domain/marketData/Figure.ts"
import type { MarketDataJob } from "#domain/marketData/MarketDataJobs.ts"
import type { PricesUnavailable } from "#domain/market/Prices.ts"
import type { CoinGeckoClient } from "#layers/market/CoinGeckoClient.ts"
import type { CoinGeckoPlatforms } from "#layers/market/CoinGeckoPlatforms.ts"
import * as Rows from "#layers/market/coingecko/rows.ts"
import { makeTokenPrices, marketParams } from "#layers/market/coingecko/tokenPrices.ts"
import { datasetJob, inRequests, whole } from "#layers/market/datasetJob.ts"
import { fetchedItems, readItems } from "#layers/market/readItems.ts"

const List = Schema.Array(Schema.Unknown)

const candleDays = { day: "1", month: "30", year: "365" } as const satisfies Record<Datasets.CandleSpan, string>

const unavailable = ({ reason }: PricesUnavailable) => new MarketDataUnavailable({ reason })

type Key = ReturnType<typeof keyOf>

export const coinJobs = (
  client: CoinGeckoClient["Service"],
  platforms: CoinGeckoPlatforms["Service"],
  options: { readonly isPaid: boolean; readonly coinIds: ReadonlyArray<string> }
) => {
  const get = <A>(path: string, params: Record<string, string>, schema: Schema.Decoder<A>) =>
    Effect.mapError(client.get(path, params, schema), unavailable)

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
      datasetJob(
        Datasets.coinMarkets,
        0,
        markets({ order: "market_cap_desc", per_page: String(Datasets.coinsPerPage), page }),
        page
      )
    ),
    datasetJob(
      Datasets.coinMarkets,
      0,
      markets({ ids: options.coinIds.join(","), per_page: String(Datasets.coinsPerPage), page: "1" }),
      Datasets.listedPage
    ),
    datasetJob(Datasets.globalMarket, 0, whole(Effect.map(get("/global", {}, Rows.GlobalAnswer), Rows.toGlobal))),
    datasetJob(
      Datasets.defiMarket,
      0,
      whole(Effect.map(get("/global/decentralized_finance_defi", {}, Rows.GlobalAnswer), Rows.toDefi))
    ),
    datasetJob(
      Datasets.marketCategories,
      0,
      Effect.map(get("/coins/categories", {}, List), (rows) => fetchedItems(Rows.CategoryRow, rows, Rows.toCategory))
    ),
    datasetJob(
      Datasets.coinCategories,
      0,
      Effect.map(get("/coins/categories/list", {}, List), (rows) =>
        fetchedItems(Rows.NamedCategoryRow, rows, ({ category_id, name }) => ({ id: category_id, name }))
      )
    ),
    datasetJob(
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
    datasetJob(
      Datasets.assetPlatforms,
      0,
      Effect.map(get("/asset_platforms", {}, List), (rows) => fetchedItems(Rows.PlatformRow, rows, Rows.toPlatform))
    ),
    ...(options.isPaid
      ? [
          datasetJob(
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
      datasetJob(
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

  const tokenPrices = makeTokenPrices(client, platforms)

  const pricesOf = (chainId: number, tokens: ReadonlyArray<Key>) =>
    Effect.gen(function* () {
      const addresses = tokens.map(({ address }) => address)
      const rowOf = yield* Effect.mapError(tokenPrices(chainId, addresses, marketParams), unavailable)
      const known = tokens.filter(({ address }) => rowOf(address) !== undefined)
      return fetchedItems(
        Rows.TokenPriceRow,
        known.map(({ address }) => rowOf(address)),
        (row, index): Datasets.TokenMarket | undefined => {
          const price = priceOf(row.usd)
          if (price === null) return undefined
          return {
            assetId: known[index]!.assetId,
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
    const ids = listed.map(({ caipAssetId }) => caipAssetId).sort()
    return [...Map.groupBy(ids.map(keyOf), ({ chainId }) => chainId)].flatMap(([chainId, tokens]) =>
      inRequests(tokens).map((some, index) =>
        datasetJob(Datasets.tokenMarkets, 1, pricesOf(chainId, some), `${chainId}-${index}`)
      )
    )
  }

  return (listed: ReadonlyArray<ListedAsset>): ReadonlyArray<MarketDataJob> => [
    ...market,
    ...ofTokens(listed),
    ...candles
  ]
}
