/** The contract of `assets.*`, a test for each rule of the interface: search and restrictions. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { appleOnRobinhood, idsOf } from "#test/rpc/support/assets.ts"
import { makeMarketApi, MarketApi } from "#test/rpc/support/MarketApi.ts"

layer(makeMarketApi(undefined, 130), { excludeTestServices: true })("assets: search", (it) => {
  it.effect("before anything was fetched, assets are listed and searched without market data", () =>
    Effect.gen(function* () {
      const { ask, refresh } = yield* MarketApi
      const { items } = yield* ask("assets.searchForTokens", { q: "usdc" })
      assert.isAbove(items.length, 0)
      assert.strictEqual(items[0].marketData.priceUsd, null)
      assert.isTrue(items[0].marketData.stale)
      yield* refresh
    })
  )

  for (const text of [
    "%",
    "_",
    "\\",
    "%%",
    ".*",
    "'",
    '"; DROP TABLE assets; --',
    "\u0000",
    "\u0001",
    "(",
    "[",
    "💥"
  ]) {
    it.effect(`a search for ${JSON.stringify(text)} means these characters`, () =>
      Effect.gen(function* () {
        const { ask } = yield* MarketApi
        const contains = ({ companyName, metadata, ticker }: any) =>
          [companyName, metadata.symbol, metadata.name, ticker].some((field) => field?.includes(text))
        const tokens = yield* ask("assets.searchForTokens", { q: text, limit: 50 })
        assert.isTrue(tokens.items.every(contains))
        const stocks = yield* ask("assets.browseStocksForSelection", { exposureCategory: "equity", search: text })
        assert.isTrue(stocks.items.every(contains))
      })
    )
  }

  it.effect("searchForTokens needs q, and finds by symbol first, then by beginnings, then anywhere", () =>
    Effect.gen(function* () {
      const { ask, call } = yield* MarketApi
      for (const bad of [{}, { q: "" }, { q: "x".repeat(101) }, { q: "a", limit: 0 }, { q: "a", limit: 51 }])
        assert.strictEqual((yield* call("assets.searchForTokens", bad)).status, 400)
      const { items } = yield* ask("assets.searchForTokens", { q: "link", limit: 50 })
      const fit = ({ metadata }: any) =>
        metadata.symbol.toLowerCase() === "link" ? 0 : metadata.symbol.toLowerCase().startsWith("link") ? 1 : 2
      assert.strictEqual(items[0].metadata.symbol, "LINK")
      assert.deepStrictEqual(
        items.map(fit),
        items.map(fit).toSorted((a: number, b: number) => a - b)
      )
      const onBase = yield* ask("assets.searchForTokens", { q: "usd", chainFilter: [8453], limit: 50 })
      assert.isAbove(onBase.items.length, 0)
      assert.isTrue(onBase.items.every(({ metadata }: any) => metadata.chainId === 8453))
    })
  )

  it.effect("searchForTokens answers rows of tokens, of tokenized shares as well", () =>
    Effect.gen(function* () {
      const { items } = yield* (yield* MarketApi).ask("assets.searchForTokens", { q: "TSLAx" })
      assert.isAbove(items.length, 0)
      assert.isTrue(items.every(({ ticker, type }: any) => type === "token" && ticker === null))
    })
  )

  it.effect(
    "searchForCommandPalette keeps the order of tokens, with the richer row of a share in the token's position",
    () =>
      Effect.gen(function* () {
        const { ask } = yield* MarketApi
        for (const q of ["usd", "tesla", "a", "coin"]) {
          const plain = yield* ask("assets.searchForTokens", { q, limit: 30 })
          const palette = yield* ask("assets.searchForCommandPalette", { q, limit: 30 })
          assert.deepStrictEqual(idsOf(palette.items), idsOf(plain.items), q)
          for (const row of palette.items) {
            assert.strictEqual(row.type, row.taxonomy.isTokenizedEquity ? "stock" : "token")
            assert.strictEqual(row.ticker !== null, row.taxonomy.isTokenizedEquity)
          }
        }
      })
  )

  it.effect("searchForCommandPalette appends shares of other chains while there is room, each id once", () =>
    Effect.gen(function* () {
      const { ask } = yield* MarketApi
      const tokens = yield* ask("assets.searchForTokens", { q: "tsla", chainFilter: [8453], limit: 50 })
      const palette = yield* ask("assets.searchForCommandPalette", { q: "tsla", chainFilter: [8453], limit: 50 })
      const ids = idsOf(palette.items)
      assert.deepStrictEqual(ids.slice(0, tokens.items.length), idsOf(tokens.items))
      assert.isAbove(ids.length, tokens.items.length)
      assert.strictEqual(new Set(ids.map((id) => id.toLowerCase())).size, ids.length)
      const few = yield* ask("assets.searchForCommandPalette", { q: "tsla", chainFilter: [8453], limit: 2 })
      assert.deepStrictEqual(idsOf(few.items), ids.slice(0, 2))
    })
  )

  it.effect("searchForCommandPalette drops shares outside of stockChainFilter, unless q is a contract's address", () =>
    Effect.gen(function* () {
      const { ask } = yield* MarketApi
      const onMainnet = yield* ask("assets.searchForCommandPalette", { q: "aapl", stockChainFilter: [1], limit: 50 })
      assert.isAbove(onMainnet.items.length, 0)
      assert.isTrue(onMainnet.items.every(({ metadata, type }: any) => type === "token" || metadata.chainId === 1))
      const address = appleOnRobinhood.split(":")[0]!
      for (const q of [address, address.toLowerCase(), address.toUpperCase().replace("0X", "0x")]) {
        const byAddress = yield* ask("assets.searchForCommandPalette", { q, stockChainFilter: [1] })
        assert.deepStrictEqual(idsOf(byAddress.items), [appleOnRobinhood])
        assert.strictEqual(byAddress.items[0].type, "stock")
      }
    })
  )

  it.effect("restrictions follow the country that the edge names, and a manual one only takes away", () =>
    Effect.gen(function* () {
      const { ask } = yield* MarketApi
      const restricted = (headers: Record<string, string>, manualCountryCode?: string) =>
        ask(
          "assets.searchForCommandPalette",
          { q: "aapl", limit: 50, ...(manualCountryCode === undefined ? {} : { manualCountryCode }) },
          { headers }
        )
      const issuersOf = ({ restrictedAssetsMap }: any) => [
        ...new Set(Object.values<any>(restrictedAssetsMap).map(({ issuer }) => issuer))
      ]
      const inSwitzerland = yield* restricted({ "x-country-code": "CH" })
      assert.deepStrictEqual(inSwitzerland.restrictedAssetsMap, {})
      assert.deepInclude(inSwitzerland.restrictionContext, { countryCode: "CH", source: "header" })
      const inAmerica = yield* restricted({ "x-country-code": "US" })
      assert.includeMembers(issuersOf(inAmerica), ["ondo", "xstocks", "robinhood", "coinbase"])
      for (const [id, entry] of Object.entries<any>(inAmerica.restrictedAssetsMap)) {
        assert.include(idsOf(inAmerica.items), id)
        assert.deepInclude(entry, { restricted: true, reason: "issuer_geo" })
        assert.match(entry.ruleId, /-\d{4}-\d\d-\d\d$/u)
      }
      const cannotUnlock = yield* restricted({ "x-country-code": "US" }, "CH")
      assert.deepStrictEqual(cannotUnlock.restrictedAssetsMap, inAmerica.restrictedAssetsMap)
      assert.strictEqual(cannotUnlock.restrictionContext.manualCountryCode, "CH")
      const canNarrow = yield* restricted({ "x-country-code": "CH" }, "gb")
      assert.deepStrictEqual(issuersOf(canNarrow), ["xstocks"])
      const inCrimea = yield* restricted({ "x-country-code": "UA", "x-region-code": "43" })
      assert.includeMembers(issuersOf(inCrimea), ["ondo", "xstocks"])
      assert.strictEqual(inCrimea.restrictionContext.regionCode, "UA-43")
      assert.deepStrictEqual(
        (yield* restricted({ "x-country-code": "UA", "x-region-code": "30" })).restrictedAssetsMap,
        {}
      )
    })
  )

  it.effect(
    "where the country is not known, what an issuer restricts anywhere counts as restricted, and says why",
    () =>
      Effect.gen(function* () {
        const { ask } = yield* MarketApi
        for (const headers of [{}, { "x-country-code": "XX" }, { "x-country-code": "nonsense" }]) {
          const { restrictedAssetsMap, restrictionContext } = yield* ask(
            "assets.searchForTokens",
            { q: "aapl", limit: 50, manualCountryCode: "CH" },
            { headers }
          )
          const reasons = new Set(Object.values<any>(restrictedAssetsMap).map(({ reason }) => reason))
          assert.deepStrictEqual([...reasons], ["country_unknown"])
          assert.deepInclude(restrictionContext, { countryCode: null, source: "unknown", manualCountryCode: "CH" })
        }
        const coins = yield* ask("assets.searchForTokens", { q: "usdc" })
        assert.deepStrictEqual(coins.restrictedAssetsMap, {})
      })
  )
})
