/** The contract of `cryptoMarketData.*`: a test for each rule of the interface's table. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Faults } from "#sandbox/faults/Faults.ts"
import { MovableClock } from "#test/support/MovableClock.ts"
import { makeMarketApi, MarketApi } from "#test/rpc/support/MarketApi.ts"

const figure = /^-?[0-9]+(\.[0-9]{1,18})?$/u
const minute = 60_000

const reads = [
  ["getNews", {}],
  ["getMarketQuotes", { coinIds: ["bitcoin"] }],
  ["getGlobal", undefined],
  ["getMarketThemes", undefined],
  ["getTrending", {}],
  ["getTopMovers", {}],
  ["getAssetPlatforms", undefined],
  ["getCoinCategories", undefined]
] as const

const limited = ["getNews", "getTrending", "getTopMovers"] as const

describe("without access to a provider", () => {
  layer(makeMarketApi({ coinGecko: "none", massive: false, coinbase: false, xstocks: false }), {
    excludeTestServices: true
  })((it) => {
    for (const [name, input] of reads) {
      it.effect(`${name} says configured: false and is empty`, () =>
        Effect.gen(function* () {
          const { ask, refresh } = yield* MarketApi
          yield* refresh
          const answer = yield* ask(`cryptoMarketData.${name}`, input)
          assert.isFalse(answer.configured)
          assert.deepStrictEqual(answer.cache, {
            fetchedAt: null,
            expiresAt: null,
            ageSeconds: null,
            stale: true,
            source: null
          })
          const { data, items } = answer
          if (items !== undefined) assert.deepStrictEqual(items, [])
          else if (data !== null) assert.isTrue(Object.values(data).every((list) => (list as []).length === 0))
        })
      )
    }
  })
})

layer(makeMarketApi({ coinGecko: "demo", massive: false, coinbase: false, xstocks: false }), {
  excludeTestServices: true
})("cryptoMarketData", (it) => {
  it.effect(
    "before anything was fetched, it is configured: true with empty arrays, and no provider is waited for",
    () =>
      Effect.gen(function* () {
        const { ask } = yield* MarketApi
        yield* (yield* Faults).set("prices", { mode: "slow" })
        for (const [name, input] of reads.slice(1)) {
          const { cache, configured, data, items } = yield* ask(`cryptoMarketData.${name}`, input)
          assert.isTrue(configured, name)
          assert.strictEqual(cache.fetchedAt, null)
          assert.isTrue(cache.stale)
          if (items !== undefined) assert.deepStrictEqual(items, [])
          else assert.isTrue(data === null || Object.values(data).every((list) => (list as []).length === 0))
        }
        yield* (yield* Faults).set("prices", { mode: "ok" })
      })
  )

  it.effect("getMarketQuotes answers each known coin once, in the order of the request, and names the missing", () =>
    Effect.gen(function* () {
      const { ask, refresh } = yield* MarketApi
      yield* refresh
      const { cache, items, missingCoinIds } = yield* ask("cryptoMarketData.getMarketQuotes", {
        coinIds: ["ethereum", "no-such-coin", "bitcoin", "ethereum"]
      })
      assert.deepStrictEqual(
        items.map(({ coinId }: { coinId: string }) => coinId),
        ["ethereum", "bitcoin"]
      )
      assert.deepStrictEqual(missingCoinIds, ["no-such-coin"])
      const [ether] = items
      assert.deepStrictEqual(Object.keys(ether).sort(), [
        "coinId",
        "iconUrl",
        "marketCapRank",
        "marketCapUsd",
        "name",
        "priceChangePercentage24h",
        "priceUsd",
        "symbol",
        "volume24hUsd"
      ])
      assert.strictEqual(ether.priceUsd, "2500")
      assert.strictEqual(ether.symbol, "ETH")
      for (const key of ["marketCapUsd", "priceChangePercentage24h", "volume24hUsd"]) assert.match(ether[key], figure)
      assert.strictEqual(cache.source, "coingecko")
      assert.isFalse(cache.stale)
    })
  )

  it.effect("getMarketQuotes takes 1 to 100 ids and nothing else", () =>
    Effect.gen(function* () {
      const { call } = yield* MarketApi
      const ids = (count: number) => ({ coinIds: Array.from({ length: count }, (_, n) => `coin-${n}`) })
      assert.strictEqual((yield* call("cryptoMarketData.getMarketQuotes", ids(100))).status, 200)
      for (const bad of [ids(0), ids(101), {}, { coinIds: "bitcoin" }, { coinIds: ["a b"] }, { coinIds: [7] }]) {
        const { body, status } = yield* call("cryptoMarketData.getMarketQuotes", bad)
        assert.strictEqual(status, 400)
        assert.strictEqual(body.error.json.code, "API_400")
        assert.match(body.error.json.details[0], /^coinIds/u)
      }
    })
  )

  for (const name of limited) {
    it.effect(`${name} takes a limit of 1 to 20`, () =>
      Effect.gen(function* () {
        const { call } = yield* MarketApi
        for (const limit of [1, 20])
          assert.strictEqual((yield* call(`cryptoMarketData.${name}`, { limit })).status, 200)
        for (const limit of [0, 21, -1, 1.5, "8", null])
          assert.strictEqual((yield* call(`cryptoMarketData.${name}`, { limit })).status, 400, String(limit))
      })
    )
  }

  it.effect(
    "getTopMovers answers 8 each way by default, gainers by the strongest rise, losers by the strongest fall",
    () =>
      Effect.gen(function* () {
        const { ask } = yield* MarketApi
        const { data } = yield* ask("cryptoMarketData.getTopMovers", {})
        const changes = (rows: ReadonlyArray<any>) => rows.map((row) => Number(row.priceChangePercentage24h))
        assert.lengthOf(data.gainers, 8)
        assert.isTrue(changes(data.gainers).every((change) => change > 0))
        assert.isTrue(changes(data.losers).every((change) => change < 0))
        assert.deepStrictEqual(
          changes(data.gainers),
          changes(data.gainers).toSorted((a, b) => b - a)
        )
        assert.deepStrictEqual(
          changes(data.losers),
          changes(data.losers).toSorted((a, b) => a - b)
        )
        const [first] = data.gainers
        for (const key of ["priceUsd", "priceChangePercentage1h", "priceChangePercentage7d"])
          assert.match(first[key], figure)
        const { data: two } = yield* ask("cryptoMarketData.getTopMovers", { limit: 2 })
        assert.lengthOf(two.gainers, 2)
      })
  )

  it.effect("getGlobal answers capitalisation, its change, volume, dominance of BTC and ETH, and when", () =>
    Effect.gen(function* () {
      const { data } = yield* (yield* MarketApi).ask("cryptoMarketData.getGlobal")
      for (const key of [
        "totalMarketCapUsd",
        "marketCapChangePercentage24h",
        "totalVolume24hUsd",
        "btcDominancePercentage",
        "ethDominancePercentage"
      ])
        assert.match(data[key], figure)
      assert.match(data.updatedAt, /^\d{4}-\d\d-\d\dT/u)
    })
  )

  it.effect("getMarketThemes answers the best and the worst category, and DeFi", () =>
    Effect.gen(function* () {
      const { data } = yield* (yield* MarketApi).ask("cryptoMarketData.getMarketThemes")
      assert.isAtLeast(Number(data.best.marketCapChangePercentage24h), Number(data.worst.marketCapChangePercentage24h))
      assert.notStrictEqual(data.best.id, data.worst.id)
      assert.strictEqual(data.defi.topCoinName, "Aave")
      for (const key of ["marketCapUsd", "dominancePercentage", "defiToEthRatio", "volume24hUsd"])
        assert.match(data.defi[key], figure)
    })
  )

  it.effect("getTrending answers coins and categories, 8 of each at most by default", () =>
    Effect.gen(function* () {
      const { ask } = yield* MarketApi
      const { data } = yield* ask("cryptoMarketData.getTrending", {})
      assert.lengthOf(data.coins, 8)
      assert.isAbove(data.categories.length, 0)
      assert.isAtMost((yield* ask("cryptoMarketData.getTrending", { limit: 20 })).data.coins.length, 15)
    })
  )

  it.effect("getAssetPlatforms maps EVM chains and Solana to their CAIP names, and nothing else", () =>
    Effect.gen(function* () {
      const { items } = yield* (yield* MarketApi).ask("cryptoMarketData.getAssetPlatforms")
      const of = (id: string) => items.find((platform: { id: string }) => platform.id === id)
      assert.deepInclude(of("base"), {
        chainIdentifier: 8453,
        chainNamespace: "eip155",
        chainReference: "8453",
        assetNamespace: "erc20",
        caipChainId: "eip155:8453",
        nativeCoinId: "ethereum"
      })
      assert.deepInclude(of("solana"), {
        chainIdentifier: null,
        chainNamespace: "solana",
        chainReference: "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp",
        assetNamespace: "spl",
        caipChainId: "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp"
      })
    })
  )

  it.effect("getCoinCategories answers ids and names", () =>
    Effect.gen(function* () {
      const { items } = yield* (yield* MarketApi).ask("cryptoMarketData.getCoinCategories")
      assert.deepInclude(items, { id: "layer-1", name: "Layer 1 (L1)" })
    })
  )

  it.effect("getNews of a plan without news says configured: false", () =>
    Effect.gen(function* () {
      const { configured, items } = yield* (yield* MarketApi).ask("cryptoMarketData.getNews", {})
      assert.isFalse(configured)
      assert.deepStrictEqual(items, [])
    })
  )

  it.effect("data is fetched again after ten minutes and not before, and says its age", () =>
    Effect.gen(function* () {
      const { ask, refresh } = yield* MarketApi
      const clock = yield* MovableClock
      const stateOf = Effect.map(ask("cryptoMarketData.getGlobal"), ({ cache }) => cache)
      clock.advance(11 * minute)
      yield* refresh
      const first = yield* stateOf
      clock.advance(5 * minute)
      yield* refresh
      const second = yield* stateOf
      assert.strictEqual(second.fetchedAt, first.fetchedAt)
      assert.isAtLeast(second.ageSeconds, 5 * 60)
      assert.isFalse(second.stale)
      clock.advance(5 * minute)
      yield* refresh
      assert.isAbove(Date.parse((yield* stateOf).fetchedAt), Date.parse(first.fetchedAt))
    })
  )

  for (const mode of ["error", "rate-limited", "unauthorized", "forbidden", "truncated", "down"] as const) {
    it.effect(`while the provider answers "${mode}", the last good data is served and says when it is stale`, () =>
      Effect.gen(function* () {
        const { ask, refresh } = yield* MarketApi
        const clock = yield* MovableClock
        const faults = yield* Faults
        const read = ask("cryptoMarketData.getMarketQuotes", { coinIds: ["bitcoin"] })
        clock.advance(11 * minute)
        yield* refresh
        const good = yield* read
        yield* faults.set("prices", { mode })
        clock.advance(11 * minute)
        yield* refresh
        const during = yield* read
        assert.deepStrictEqual(during.items, good.items)
        assert.isTrue(during.configured)
        assert.isFalse(during.cache.stale)
        clock.advance(5 * minute)
        yield* refresh
        assert.isTrue((yield* read).cache.stale)
        yield* faults.set("prices", { mode: "ok" })
        clock.advance(3 * minute)
        // Three failures in a row end a round; what they kept waiting comes with the next.
        for (let round = 0; round < 3; round += 1) yield* refresh
        const after = yield* read
        assert.isFalse(after.cache.stale)
        assert.isAbove(Date.parse(after.cache.fetchedAt), Date.parse(good.cache.fetchedAt))
      })
    )
  }
})

layer(makeMarketApi({ coinGecko: "paid", massive: false, coinbase: false, xstocks: false }), {
  excludeTestServices: true
})("news of a paid plan", (it) => {
  const news = (input: object) => Effect.flatMap(MarketApi, ({ ask }) => ask("cryptoMarketData.getNews", input))

  it.effect("is configured, and stays empty while the provider refuses it", () =>
    Effect.gen(function* () {
      const { refresh } = yield* MarketApi
      const faults = yield* Faults
      yield* faults.set("prices", { mode: "forbidden" })
      yield* refresh
      yield* faults.set("prices", { mode: "ok" })
      const { cache, configured, items } = yield* news({})
      assert.isTrue(configured)
      assert.deepStrictEqual(items, [])
      assert.isTrue(cache.stale)
    })
  )

  it.effect("getNews answers the newest articles first, 8 unless another limit is asked for, and 20 at most", () =>
    Effect.gen(function* () {
      const { call, refresh } = yield* MarketApi
      const clock = yield* MovableClock
      clock.advance(61_000)
      yield* refresh
      const { cache, configured, items } = yield* news({})
      assert.isTrue(configured)
      assert.isFalse(cache.stale)
      assert.strictEqual(cache.source, "coingecko")
      assert.lengthOf(items, 8)
      const times = items.map(({ publishedAt }: { publishedAt: string }) => Date.parse(publishedAt))
      assert.deepStrictEqual(
        times,
        times.toSorted((a: number, b: number) => b - a)
      )
      assert.deepStrictEqual(
        { ...items[0], author: undefined },
        {
          id: items[0].url,
          title: `The market at ${items[0].publishedAt}`,
          url: `https://news.example/${times[0] / 3_600_000}`,
          excerpt: null,
          imageUrl: `https://news.example/${times[0] / 3_600_000}.png`,
          source: "Sandbox News",
          author: undefined,
          publishedAt: items[0].publishedAt,
          relatedCoinIds: ["bitcoin", "ethereum"]
        }
      )
      assert.lengthOf((yield* news({ limit: 1 })).items, 1)
      // Of the twenty that were fetched one leads to an address without https, and is left out.
      assert.lengthOf((yield* news({ limit: 20 })).items, 19)
      for (const limit of [0, 21, 1.5])
        assert.strictEqual((yield* call("cryptoMarketData.getNews", { limit })).status, 400)
    })
  )
})
