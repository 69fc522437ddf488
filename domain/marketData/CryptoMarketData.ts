/**
 * The market of coins, read from the shared cache alone. Source: interface "Public crypto market data procedures";
 * docs/decisions/0121.
 */
import { Clock, Context, Effect, Layer } from "effect"
import * as Decimal from "#domain/values/Decimal.ts"
import { type CacheState, cacheState, type Provenance, provenanceOf } from "#domain/marketData/CacheState.ts"
import { type CaipNames, caipOfPlatform } from "#domain/marketData/caipOfPlatform.ts"
import * as Datasets from "#domain/marketData/coinDatasets.ts"
import type { Fetched } from "#domain/marketData/Dataset.ts"
import { MarketDataAccess } from "#domain/marketData/MarketDataAccess.ts"
import { MarketDataCache } from "#domain/marketData/MarketDataCache.ts"
import { type Movers, topMovers } from "#domain/marketData/topMovers.ts"

const pages = [...Datasets.topPages, Datasets.listedPage]

/** The category with the most, or the lowest, change; of two alike the first by id. */
const extreme = (categories: ReadonlyArray<Datasets.MarketCategory>, direction: 1n | -1n) => {
  let found: { readonly category: Datasets.MarketCategory; readonly change: bigint } | undefined
  for (const category of categories) {
    if (category.marketCapChangePercentage24h === null) continue
    const change = direction * (Decimal.parse(category.marketCapChangePercentage24h) ?? 0n)
    const isBetter =
      found === undefined || change > found.change || (change === found.change && category.id < found.category.id)
    if (isBetter) found = { category, change }
  }
  return found?.category ?? null
}

const make = Effect.gen(function* () {
  const cache = yield* MarketDataCache
  const access = yield* MarketDataAccess
  const isConfigured = access.coinGecko !== "none"

  const wrapFrom = <A extends object>(from: Provenance | undefined, answer: A, configured = isConfigured) =>
    Effect.map(Clock.currentTimeMillis, (now) => ({
      configured,
      ...answer,
      cache: cacheState(configured ? from : undefined, now)
    }))
  /** An answer around what was fetched, however old, and its state. */
  const wrap = <A extends object>(
    parts: ReadonlyArray<Fetched<unknown> | undefined>,
    answer: A,
    configured = isConfigured
  ) => wrapFrom(provenanceOf(parts), answer, configured)

  const coinPages = () => (isConfigured ? pages.map((page) => cache.get(Datasets.coinMarkets, page)) : [])

  const readCoins = (revision: number) => {
    const parts = coinPages()
    const rows = parts.flatMap((page) => page?.data ?? [])
    return {
      revision,
      provenance: provenanceOf(parts),
      byId: new Map(rows.toReversed().map((row) => [row.coinId, row]))
    }
  }
  let read: ReturnType<typeof readCoins> | undefined
  /** Coins by id, and how old they are; read anew when the cache has changed. */
  const coins = () => {
    const revision = cache.revision()
    if (read?.revision !== revision) read = readCoins(revision)
    return read
  }

  return {
    news: (limit: number) =>
      Effect.suspend(() => {
        const fetched = cache.get(Datasets.news)
        const newestFirst = (fetched?.data ?? []).toSorted((a, b) =>
          (b.publishedAt ?? "").localeCompare(a.publishedAt ?? "")
        )
        return wrap([fetched], { items: newestFirst.slice(0, limit) }, access.coinGecko === "paid")
      }),
    quotes: (coinIds: ReadonlyArray<string>) =>
      Effect.suspend(() => {
        const { byId, provenance } = coins()
        const wanted = [...new Set(coinIds)]
        const items = wanted.flatMap((id) => byId.get(id) ?? [])
        return wrapFrom(provenance, { items, missingCoinIds: wanted.filter((id) => !byId.has(id)) })
      }),
    global: Effect.suspend(() => {
      const fetched = cache.get(Datasets.globalMarket)
      return wrap([fetched], { data: fetched?.data ?? null })
    }),
    themes: Effect.suspend(() => {
      const categories = cache.get(Datasets.marketCategories)
      const defi = cache.get(Datasets.defiMarket)
      const rows = categories?.data ?? []
      const data =
        categories === undefined && defi === undefined
          ? null
          : { best: extreme(rows, 1n), worst: extreme(rows, -1n), defi: defi?.data ?? null }
      return wrap([categories, defi], { data })
    }),
    trending: (limit: number) =>
      Effect.suspend(() => {
        const fetched = cache.get(Datasets.trending)
        const { categories = [], coins = [] } = fetched?.data ?? {}
        return wrap([fetched], { data: { coins: coins.slice(0, limit), categories: categories.slice(0, limit) } })
      }),
    movers: (limit: number) =>
      Effect.suspend(() => {
        const fetched = Datasets.topPages.map((page) => cache.get(Datasets.coinMarkets, page))
        return wrap(fetched, {
          data: topMovers(
            fetched.flatMap((page) => page?.data ?? []),
            limit
          )
        })
      }),
    platforms: Effect.suspend(() => {
      const fetched = cache.get(Datasets.assetPlatforms)
      const items = (fetched?.data ?? []).map((platform) => ({ ...platform, ...caipOfPlatform(platform) }))
      return wrap([fetched], { items })
    }),
    categories: Effect.suspend(() => {
      const fetched = cache.get(Datasets.coinCategories)
      return wrap([fetched], { items: fetched?.data ?? [] })
    })
  }
})

/** An answer from the cache, with its age and whether this deployment has a source of it. */
type FromCache<A> = Effect.Effect<A & { readonly configured: boolean; readonly cache: CacheState }>

/** Null while nothing was fetched. */
type MaybeFromCache<A> = FromCache<{ readonly data: A | null }>

interface Themes {
  /** The categories that rose and fell most in a day; null where none has a change. */
  readonly best: Datasets.MarketCategory | null
  readonly worst: Datasets.MarketCategory | null
  readonly defi: typeof Datasets.DefiMarket.Type | null
}

interface Quotes {
  /** Coins in the order of the request, each once. */
  readonly items: ReadonlyArray<Datasets.CoinMarket>
  /** Those that the cache does not hold. */
  readonly missingCoinIds: ReadonlyArray<string>
}

type Platform = typeof Datasets.AssetPlatform.Type & CaipNames

/**
 * The market of coins.
 *
 * **When to use**
 *
 * Use in public procedures about coins. Tokens of chains are `AssetProfiles`.
 */
export class CryptoMarketData extends Context.Service<
  CryptoMarketData,
  {
    /** The newest articles first. Only a plan with a price has news. */
    readonly news: (limit: number) => FromCache<{ readonly items: ReadonlyArray<typeof Datasets.NewsArticle.Type> }>
    readonly quotes: (coinIds: ReadonlyArray<string>) => FromCache<Quotes>
    readonly global: MaybeFromCache<typeof Datasets.GlobalMarket.Type>
    readonly themes: MaybeFromCache<Themes>
    /** Reads at most `limit` coins, and as many categories. */
    readonly trending: (limit: number) => FromCache<{ readonly data: typeof Datasets.Trending.Type }>
    /** Reads at most `limit` movers each way. */
    readonly movers: (limit: number) => FromCache<{ readonly data: Movers }>
    readonly platforms: FromCache<{ readonly items: ReadonlyArray<Platform> }>
    readonly categories: FromCache<{ readonly items: ReadonlyArray<typeof Datasets.NamedCategory.Type> }>
  }
>()("ballast/domain/marketData/CryptoMarketData") {
  static readonly layer = Layer.effect(CryptoMarketData, make)
}
