/** All that this deployment fetches into the shared cache, from the providers that it has access to. */
import { Clock, Context, Duration, Effect, Layer, type Redacted } from "effect"
import { FetchHttpClient } from "effect/http"
import { ListedAssets, type ListedAsset } from "#domain/asset/ListedAssets.ts"
import { SubjectFacts } from "#domain/asset/SubjectFacts.ts"
import type { MarketDataProvider } from "#domain/marketData/Dataset.ts"
import { MarketDataAccess } from "#domain/marketData/MarketDataAccess.ts"
import { MarketDataJobs, type MarketDataJob } from "#domain/marketData/MarketDataJobs.ts"
import { coinJobs } from "#layers/market/coingecko/coinJobs.ts"
import { CoinGeckoClient } from "#layers/market/CoinGeckoClient.ts"
import { CoinGeckoPlatforms } from "#layers/market/CoinGeckoPlatforms.ts"
import { coinbaseJobs } from "#layers/market/issuers/coinbaseJobs.ts"
import { xStocksJobs } from "#layers/market/issuers/xStocksJobs.ts"
import { MassiveRest, MassiveRestConfig } from "#layers/market/massive/MassiveRest.ts"
import { stockJobs } from "#layers/market/massive/stockJobs.ts"

export class MarketDataConfig extends Context.Service<
  MarketDataConfig,
  {
    readonly massive: { readonly baseUrl: string; readonly apiKey: Redacted.Redacted } | null
    /** Base of Coinbase's public API. */
    readonly coinbaseUrl: string | null
    /** Base of the public API of xStocks, with its version. */
    readonly xStocksUrl: string | null
    /** Requests a minute that the refresh may make of a provider. */
    readonly perMinute: Readonly<Record<MarketDataProvider, number>>
  }
>()("ballast/layers/market/MarketDataConfig") {}

/** How long a read of the catalogue counts. */
const catalogueLife = Duration.toMillis(Duration.minutes(1))

const tickersOf = (listed: ReadonlyArray<ListedAsset>): ReadonlyArray<string> =>
  [
    ...new Set(
      listed.flatMap(({ subject }) => (subject?.kind === "equity" || subject?.kind === "etf" ? [subject.symbol] : []))
    )
  ].sort()

export const MarketDataJobsLive = Layer.effect(
  MarketDataJobs,
  Effect.gen(function* () {
    const access = yield* MarketDataAccess
    const { coinbaseUrl, massive, perMinute, xStocksUrl } = yield* MarketDataConfig
    const listed = yield* ListedAssets
    const { coinIds } = yield* SubjectFacts
    const ofCoins =
      access.coinGecko === "none"
        ? () => []
        : coinJobs(yield* CoinGeckoClient, yield* CoinGeckoPlatforms, {
            isPaid: access.coinGecko === "paid",
            coinIds
          })
    const ofStocks =
      massive === null
        ? () => []
        : stockJobs(
            Context.get(
              yield* Layer.build(MassiveRest.layer.pipe(Layer.provide(Layer.succeed(MassiveRestConfig, massive)))),
              MassiveRest
            )
          )
    const ofCoinbase = coinbaseUrl === null ? [] : yield* coinbaseJobs(coinbaseUrl)
    const ofXStocks = xStocksUrl === null ? () => [] : yield* xStocksJobs(xStocksUrl)

    let known: { readonly at: number; readonly jobs: ReadonlyArray<MarketDataJob> } | undefined
    const all = Effect.gen(function* () {
      const now = yield* Clock.currentTimeMillis
      if (known !== undefined && now - known.at < catalogueLife) return known.jobs
      const assets = yield* listed.all
      known = {
        at: now,
        jobs: [...ofCoins(assets), ...ofStocks(tickersOf(assets)), ...ofCoinbase, ...ofXStocks(assets)]
      }
      return known.jobs
    })

    return MarketDataJobs.of({ all, perMinute })
  })
).pipe(Layer.provide([CoinGeckoClient.layer, CoinGeckoPlatforms.layer, FetchHttpClient.layer]))
