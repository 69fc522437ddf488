/** What the refresh of market data costs in a month: computed from the jobs, and as docs/operations.md states it. */
import { assert, it } from "@effect/vitest"
import { Duration, Effect, Layer, Redacted } from "effect"
import { readFile } from "node:fs/promises"
import { ListedAssets } from "#domain/asset/ListedAssets.ts"
import { MarketDataAccess } from "#domain/marketData/MarketDataAccess.ts"
import { MarketDataJobs, type MarketDataJob } from "#domain/marketData/MarketDataJobs.ts"
import { content } from "#layers/catalogue/content.ts"
import { SubjectFactsLive } from "#layers/catalogue/SubjectFactsLive.ts"
import { CoinGeckoConfig } from "#layers/market/CoinGeckoConfig.ts"
import { MarketDataConfig, MarketDataJobsLive } from "#layers/market/MarketDataJobsLive.ts"

const month = Duration.toMillis(Duration.days(30))
const subjects = new Map(content.assets.map((asset) => [asset.assetCanonicalId, asset]))
const nowhere = "http://127.0.0.1:9"

const Catalogue = Layer.succeed(ListedAssets, {
  version: Effect.succeed("checked in"),
  all: Effect.succeed(
    content.representations.map(({ assetCanonicalId, ...token }) => ({
      ...token,
      name: token.symbol,
      subject: subjects.get(assetCanonicalId)!,
      categories: []
    }))
  )
})

/** The jobs of a deployment that has access to every provider, over the checked-in catalogue. */
const jobs = Effect.flatMap(MarketDataJobs, ({ all }) => all).pipe(
  Effect.provide(MarketDataJobsLive),
  Effect.provide(
    Layer.mergeAll(
      Catalogue,
      SubjectFactsLive,
      Layer.succeed(MarketDataAccess, { coinGecko: "paid", massive: true, coinbase: true, xstocks: true }),
      Layer.succeed(CoinGeckoConfig, { baseUrl: nowhere, apiKey: Redacted.make("key"), plan: "pro" }),
      Layer.succeed(MarketDataConfig, {
        massive: { baseUrl: nowhere, apiKey: Redacted.make("key") },
        coinbaseUrl: nowhere,
        xStocksUrl: nowhere,
        perMinute: { coingecko: 20, massive: 60, coinbase: 10, xstocks: 10 }
      })
    )
  )
)

const inMonth = (some: ReadonlyArray<MarketDataJob>) =>
  some.reduce((sum, { interval }) => sum + month / Duration.toMillis(interval), 0)
const whole = (count: number) => count.toLocaleString("en-US", { maximumFractionDigits: 0 })

const kinds: ReadonlyArray<readonly [what: string, isOf: (name: string) => boolean]> = [
  ["prices of listed tokens", (name) => name.startsWith("token-markets:")],
  ["candles of a coin's day", (name) => name.startsWith("coin-candles-day:")],
  ["candles of a coin's month", (name) => name.startsWith("coin-candles-month:")],
  ["candles of a coin's year", (name) => name.startsWith("coin-candles-year:")],
  ["coins, global, DeFi, categories, trending, platforms, news", () => true]
]

it.effect("docs/operations.md says how many requests a month the refresh makes of each provider", () =>
  Effect.gen(function* () {
    const all = yield* jobs
    const text = yield* Effect.promise(() => readFile(new URL("../../../docs/operations.md", import.meta.url), "utf8"))
    const rows = text.split("\n").map((line) => line.replaceAll(/\s+/gu, " ").trim())

    const ofCoins = Map.groupBy(
      all.filter(({ provider }) => provider === "coingecko"),
      ({ name }) => kinds.find(([, isOf]) => isOf(name))![0]
    )
    for (const [what] of kinds) {
      const some = ofCoins.get(what) ?? []
      assert.isNotEmpty(some, what)
      assert.include(rows, `| CoinGecko: ${what} | ${some.length} | ${whole(inMonth(some))} |`)
    }
    for (const [provider, name] of [
      ["coingecko", "CoinGecko"],
      ["massive", "Massive"],
      ["coinbase", "Coinbase"],
      ["xstocks", "xStocks"]
    ] as const) {
      const some = all.filter((job) => job.provider === provider)
      assert.include(rows, `| ${name}, all | ${some.length} | ${whole(inMonth(some))} |`)
    }
    // What the default of COINGECKO_REFRESH_PER_MINUTE allows is more than is due: the schedule decides, not the limit.
    const due = inMonth(all.filter(({ provider }) => provider === "coingecko"))
    assert.isBelow(due, 20 * 60 * 24 * 30)
  })
)
