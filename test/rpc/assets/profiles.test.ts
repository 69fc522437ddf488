/** The contract of `assets.*`, a test for each rule of the interface: one asset in full, overlays and candles. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { content } from "#layers/catalogue/content.ts"
import { appleOnRobinhood, figure, idsOf, tokenized, usdcOnBase } from "#test/rpc/support/assets.ts"
import { makeMarketApi, MarketApi } from "#test/rpc/support/MarketApi.ts"

layer(makeMarketApi(undefined, 130), { excludeTestServices: true })("assets: profiles", (it) => {
  it.effect("fetches what it needs", () => Effect.flatMap(MarketApi, ({ refresh }) => refresh))

  it.effect("getAssetDetails of a tokenized share has trading overlay and all sections of equityDetails", () =>
    Effect.gen(function* () {
      const { ask } = yield* MarketApi
      const details = yield* ask("assets.getAssetDetails", { assetId: appleOnRobinhood.toLowerCase() })
      assert.strictEqual(details.assetId, appleOnRobinhood)
      assert.isTrue(details.isVerifiedByGlider)
      assert.isTrue(details.taxonomy.isTokenizedEquity)
      assert.strictEqual(details.taxonomy.primaryExposure.slug, "aapl")
      assert.include(details.taxonomy.exposureCategories, "equity")
      assert.deepStrictEqual(Object.keys(details.equityDetails).sort(), [
        "access",
        "documents",
        "identity",
        "income",
        "market",
        "tagGroups",
        "taxonomy"
      ])
      const { access, identity, market } = details.equityDetails
      assert.deepInclude(identity, { ticker: "AAPL", companyName: "Apple", exchange: "XNAS", country: "US" })
      assert.include(access.restrictedCountries, "US")
      assert.strictEqual(market.marketStatus, "open")
      assert.match(market.primaryPriceUsd, figure)
      const { trading } = details.marketData
      assert.deepInclude(trading, { issuerSlug: "robinhood", ticker: "AAPL", isPaused: false })
      assert.strictEqual(trading.sharePriceUsd, market.primaryPriceUsd)
    })
  )

  it.effect("getAssetDetails of a coin has no equityDetails and no overlay; CAIP ids are understood", () =>
    Effect.gen(function* () {
      const { ask } = yield* MarketApi
      const details = yield* ask("assets.getAssetDetails", {
        assetId: `eip155:8453/erc20:${usdcOnBase.split(":")[0]!}`
      })
      assert.strictEqual(details.assetId, usdcOnBase)
      assert.strictEqual(details.equityDetails, null)
      assert.strictEqual(details.marketData.trading, null)
      assert.strictEqual(details.marketData.priceUsd, "1")
      assert.strictEqual(details.marketData.source, "coingecko")
      assert.isFalse(details.marketData.stale)
    })
  )

  it.effect("tokens on Solana have the price of their contract, coins and shares alike", () =>
    Effect.gen(function* () {
      const { ask } = yield* MarketApi
      const onSolana = content.representations.filter(({ caipAssetId }) => caipAssetId.startsWith("solana:"))
      for (const [symbol, price] of [
        ["USDC", /^1$/u],
        ["JUP", figure],
        ["AAPLx", figure],
        ["AAPLon", figure]
      ] as const) {
        const assetId = onSolana.find((token) => token.symbol === symbol)!.caipAssetId
        const { marketData } = yield* ask("assets.getAssetDetails", { assetId })
        assert.match(marketData.priceUsd, price, symbol)
        assert.deepInclude(marketData, { priceBasis: "token", source: "coingecko", stale: false }, symbol)
      }
    })
  )

  for (const procedure of ["assets.getAssetDetails", "assets.getTimeSeries"]) {
    it.effect(`${procedure} answers 404 for an id that is not listed, 400 for what is none`, () =>
      Effect.gen(function* () {
        const { call } = yield* MarketApi
        const absent = yield* call(procedure, { assetId: `0x${"11".repeat(20)}:1` })
        assert.strictEqual(absent.status, 404)
        assert.strictEqual(absent.body.error.json.code, "API_006")
        for (const assetId of ["", "AAPL", "0x12:1", `0x${"11".repeat(20)}`, 7])
          assert.strictEqual((yield* call(procedure, { assetId })).status, 400)
      })
    )
  }

  it.effect("getAssetOverlaysBatch answers a row for each id in order, empty for what is unknown or no share", () =>
    Effect.gen(function* () {
      const { ask, call } = yield* MarketApi
      const sent = ["nonsense", appleOnRobinhood.toLowerCase(), usdcOnBase, "", appleOnRobinhood]
      const { items } = yield* ask("assets.getAssetOverlaysBatch", { assetIds: sent })
      assert.deepStrictEqual(idsOf(items), sent)
      const empty = { taxonomy: null, equityDetails: null, providerExtensions: null }
      for (const position of [0, 2, 3]) assert.deepInclude(items[position], empty)
      for (const position of [1, 4]) {
        assert.strictEqual(items[position].equityDetails.identity.ticker, "AAPL")
        assert.strictEqual(items[position].providerExtensions.unitModel, "scaled")
      }
      assert.deepStrictEqual((yield* ask("assets.getAssetOverlaysBatch", { assetIds: [] })).items, [])
      const many = Array.from({ length: 201 }, () => "x")
      assert.strictEqual((yield* call("assets.getAssetOverlaysBatch", { assetIds: many })).status, 400)
    })
  )

  it.effect(
    "a multiplier that the issuer publishes stays an extension: symbol, decimals and price are the token's own",
    () =>
      Effect.gen(function* () {
        const { ask } = yield* MarketApi
        const first = tokenized.find(({ issuer }) => issuer === "coinbase")
        const assetId = `${first!.caipAssetId.split(":").at(-1)!}:8453`
        const { items } = yield* ask("assets.getAssetOverlaysBatch", { assetIds: [assetId] })
        assert.deepInclude(items[0].providerExtensions, { unitModel: "scaled", multiplier: "1.5", source: "coinbase" })
        const { marketData, metadata } = yield* ask("assets.getAssetDetails", { assetId })
        assert.strictEqual(metadata.decimals, first!.decimals)
        assert.strictEqual(marketData.priceBasis, "token")
      })
  )

  it.effect("getTimeSeries answers candles of the share behind a token, and of a coin, oldest first", () =>
    Effect.gen(function* () {
      const { ask, call } = yield* MarketApi
      const share = yield* ask("assets.getTimeSeries", { assetId: appleOnRobinhood })
      assert.deepInclude(share, { range: "1d", basis: "share", configured: true })
      assert.isAbove(share.candles.length, 100)
      const { items } = yield* ask("assets.searchForTokens", { q: "aave" })
      const coin = yield* ask("assets.getTimeSeries", { assetId: items[0].assetId, range: "1d" })
      assert.strictEqual(coin.basis, "coin")
      assert.isAbove(coin.candles.length, 10)
      for (const { candles } of [share, coin]) {
        const times = candles.map(({ timestamp }: any) => timestamp)
        assert.deepStrictEqual(
          times,
          times.toSorted((a: number, b: number) => a - b)
        )
        for (const { close, high, low, open } of candles) {
          assert.isAtLeast(Number(high), Math.max(Number(open), Number(close)))
          assert.isAtMost(Number(low), Math.min(Number(open), Number(close)))
        }
      }
      for (const range of ["5d", 1]) {
        assert.strictEqual((yield* call("assets.getTimeSeries", { assetId: appleOnRobinhood, range })).status, 400)
      }
    })
  )
})
