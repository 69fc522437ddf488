/** What is fetched from CoinGecko for the shared cache. */
import { Effect, Schema } from "effect"
import type { ChainId } from "#domain/values/Caip.ts"
import type { ListedAsset } from "#domain/asset/ListedAssets.ts"
import { type KeyParts, keyPartsOf } from "#domain/listing/AssetKey.ts"
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
import type { AnswerSchema, Question } from "#layers/provider/makeFind.ts"

const List = Schema.Array(Schema.Unknown)

const candleDays = { day: "1", month: "30", year: "365" } as const satisfies Record<Datasets.CandleSpan, string>

const unavailable = ({ reason }: PricesUnavailable) => new MarketDataUnavailable({ reason })

export const coinJobs = (
  client: CoinGeckoClient["Service"],
  platforms: CoinGeckoPlatforms["Service"],
  options: { readonly isPaid: boolean; readonly coinIds: ReadonlyArray<string> }
) => {
  const get = <S extends AnswerSchema>(question: Question<S>) => Effect.mapError(client.get(question), unavailable)

  const markets = (params: Record<string, string>) =>
    Effect.map(
      get({
        path: "/coins/markets",
        params: {
          vs_currency: "usd",
          price_change_percentage: "1h,24h,7d",
          sparkline: "true",
          precision: "full",
          ...params
        },
        schema: List
      }),
      (rows) => fetchedItems(Rows.CoinRow, rows, Rows.toCoin)
    )

  const market: ReadonlyArray<MarketDataJob> = [
    ...Datasets.topPages.map((page) =>
      datasetJob(Datasets.coinMarkets, {
        priority: 0,
        fetch: markets({ order: "market_cap_desc", per_page: String(Datasets.coinsPerPage), page }),
        key: page
      })
    ),
    datasetJob(Datasets.coinMarkets, {
      priority: 0,
      fetch: markets({ ids: options.coinIds.join(","), per_page: String(Datasets.coinsPerPage), page: "1" }),
      key: Datasets.listedPage
    }),
    datasetJob(Datasets.globalMarket, {
      priority: 0,
      fetch: whole(Effect.map(get({ path: "/global", schema: Rows.GlobalAnswer }), Rows.toGlobal))
    }),
    datasetJob(Datasets.defiMarket, {
      priority: 0,
      fetch: whole(
        Effect.map(get({ path: "/global/decentralized_finance_defi", schema: Rows.GlobalAnswer }), Rows.toDefi)
      )
    }),
    datasetJob(Datasets.marketCategories, {
      priority: 0,
      fetch: Effect.map(get({ path: "/coins/categories", schema: List }), (rows) =>
        fetchedItems(Rows.CategoryRow, rows, Rows.toCategory)
      )
    }),
    datasetJob(Datasets.coinCategories, {
      priority: 0,
      fetch: Effect.map(get({ path: "/coins/categories/list", schema: List }), (rows) =>
        fetchedItems(Rows.NamedCategoryRow, rows, ({ category_id, name }) => ({ id: category_id, name }))
      )
    }),
    datasetJob(Datasets.trending, {
      priority: 0,
      fetch: Effect.map(
        get({ path: "/search/trending", schema: Rows.TrendingAnswer }),
        ({ categories = [], coins }) => {
          const readCoins = readItems(Rows.TrendingCoinRow, coins, Rows.toTrendingCoin)
          const readCategories = readItems(Rows.TrendingCategoryRow, categories, Rows.toTrendingCategory)
          return {
            data: { coins: readCoins.items, categories: readCategories.items },
            problems: [...readCoins.problems, ...readCategories.problems]
          }
        }
      )
    }),
    datasetJob(Datasets.assetPlatforms, {
      priority: 0,
      fetch: Effect.map(get({ path: "/asset_platforms", schema: List }), (rows) =>
        fetchedItems(Rows.PlatformRow, rows, Rows.toPlatform)
      )
    }),
    ...(options.isPaid
      ? [
          datasetJob(Datasets.news, {
            priority: 0,
            fetch: Effect.map(get({ path: "/news", params: { page: "1", per_page: "20" }, schema: List }), (rows) =>
              fetchedItems(Rows.NewsRow, rows, Rows.toArticle)
            )
          })
        ]
      : [])
  ]

  const candles = Datasets.candleSpans.flatMap((span) =>
    options.coinIds.map((coinId) =>
      datasetJob(Datasets.coinCandles(span), {
        priority: span === "day" ? 2 : 3,
        fetch: Effect.map(
          get({
            path: `/coins/${encodeURIComponent(coinId)}/ohlc`,
            params: { vs_currency: "usd", days: candleDays[span] },
            schema: List
          }),
          (rows) => fetchedItems(Rows.OhlcRow, rows, Rows.toCandle)
        ),
        key: coinId
      })
    )
  )

  const tokenPrices = makeTokenPrices(client, platforms)

  const pricesOf = (chainId: ChainId, tokens: ReadonlyArray<KeyParts>) =>
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
    return [...Map.groupBy(ids.map(keyPartsOf), ({ chainId }) => chainId)].flatMap(([chainId, tokens]) =>
      inRequests(tokens).map((some, index) =>
        datasetJob(Datasets.tokenMarkets, { priority: 1, fetch: pricesOf(chainId, some), key: `${chainId}-${index}` })
      )
    )
  }

  return (listed: ReadonlyArray<ListedAsset>): ReadonlyArray<MarketDataJob> => [
    ...market,
    ...ofTokens(listed),
    ...candles
  ]
}
