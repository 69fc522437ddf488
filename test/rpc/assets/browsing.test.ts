/** The contract of `assets.*`, a test for each rule of the interface: browsing of assets and tokenized shares. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { content } from "#layers/catalogue/content.ts"
import { appleOnRobinhood, figure, idsOf, tokenized, usdcOnBase } from "#test/rpc/support/assets.ts"
import { makeMarketApi, MarketApi } from "#test/rpc/support/MarketApi.ts"

const filters = [
  { issuerSlug: "ondo" },
  { exposureCategory: "equity" },
  { exposureSlug: "aapl" },
  { issuerSlug: "xstocks", exposureCategory: "equity", exposureSlug: "tsla" }
]
const filtered = [
  "assets.browseAssets",
  "assets.getStockBrowseSnapshot",
  "assets.browseStocks",
  "assets.browseStocksForSelection"
]

/** All pages of a list, by its cursors. */
const allPages = Effect.fnUntraced(function* (procedure: string, input: object, limit: number) {
  const { ask } = yield* MarketApi
  const pages: Array<any> = []
  for (let cursor: number | null = 0; cursor !== null;) {
    const page: any = yield* ask(procedure, { ...input, limit, cursor })
    pages.push(page)
    assert.isAtMost(page.items.length, limit)
    cursor = page.nextCursor
    if (cursor !== null) assert.isTrue(Number.isInteger(cursor))
  }
  return pages
})

layer(makeMarketApi(undefined, 130), { excludeTestServices: true })("assets: browsing", (it) => {
  it.effect("fetches what it needs", () => Effect.flatMap(MarketApi, ({ refresh }) => refresh))

  for (const procedure of filtered) {
    it.effect(`${procedure} needs at least one of the three filters`, () =>
      Effect.gen(function* () {
        const { call } = yield* MarketApi
        for (const input of [{}, undefined, { limit: 5 }]) {
          const { body, status } = yield* call(procedure, input)
          assert.strictEqual(status, 400)
          assert.include(body.error.json.details.join(), "issuerSlug, exposureCategory, exposureSlug")
        }
        for (const filter of filters) assert.strictEqual((yield* call(procedure, filter)).status, 200)
        for (const bad of ["", "A b", "%", "../x"])
          assert.strictEqual((yield* call(procedure, { issuerSlug: bad })).status, 400)
      })
    )
  }

  it.effect(
    "browseAssets answers id, market data, metadata and taxonomy of all that fit, tokenized shares included",
    () =>
      Effect.gen(function* () {
        const { ask } = yield* MarketApi
        const { items } = yield* ask("assets.browseAssets", { exposureSlug: "aapl", limit: 100 })
        const apple = content.assets.find(({ symbol }) => symbol === "AAPL")!
        const expected = content.representations.filter((row) => row.assetCanonicalId === apple.assetCanonicalId)
        assert.lengthOf(items, expected.length)
        assert.deepStrictEqual(Object.keys(items[0]).sort(), ["assetId", "marketData", "metadata", "taxonomy"])
        assert.isTrue(items.every(({ taxonomy }: any) => taxonomy.isTokenizedEquity))
        assert.deepStrictEqual(
          items.map(({ metadata }: any) => metadata.caipAssetId).sort(),
          expected.map(({ caipAssetId }) => caipAssetId).sort()
        )
      })
  )

  it.effect("browsing shows shares that are restricted where the caller is as well", () =>
    Effect.gen(function* () {
      const { ask } = yield* MarketApi
      for (const procedure of filtered) {
        const [inAmerica, inSwitzerland] = yield* Effect.forEach(["US", "CH"], (country) =>
          ask(procedure, { issuerSlug: "ondo" }, { headers: { "x-country-code": country } })
        )
        assert.isNotEmpty(inAmerica.items, procedure)
        assert.deepStrictEqual(idsOf(inAmerica.items), idsOf(inSwitzerland.items), procedure)
      }
    })
  )

  it.effect("browseAssets combines its filters and leaves out excludeAssetIds, however they are written", () =>
    Effect.gen(function* () {
      const { ask } = yield* MarketApi
      const filter = { exposureSlug: "usdc" }
      const all = idsOf((yield* ask("assets.browseAssets", filter)).items)
      assert.include(all, usdcOnBase)
      const { items } = yield* ask("assets.browseAssets", {
        ...filter,
        excludeAssetIds: [usdcOnBase.toLowerCase(), "eip155:1/erc20:0x0", "not an id"]
      })
      assert.deepStrictEqual(
        idsOf(items),
        all.filter((id) => id !== usdcOnBase)
      )
      assert.isAbove(all.length, 1)
      const both = yield* ask("assets.browseAssets", { exposureSlug: "aapl", issuerSlug: "robinhood" })
      assert.deepStrictEqual(idsOf(both.items), [appleOnRobinhood])
      assert.lengthOf((yield* ask("assets.browseAssets", { exposureSlug: "usdc", issuerSlug: "robinhood" })).items, 0)
    })
  )

  it.effect("pages by numeric cursor meet without a hole and without a repetition, and the last has none", () =>
    Effect.gen(function* () {
      const { call } = yield* MarketApi
      const pages = yield* allPages("assets.browseStocks", { exposureCategory: "equity" }, 17)
      const ids = pages.flatMap(({ items }) => idsOf(items))
      assert.strictEqual(new Set(ids).size, ids.length)
      assert.strictEqual(ids.length, pages[0].totalCount)
      for (const bad of [{ limit: 0 }, { limit: 101 }, { cursor: -1 }, { cursor: "0" }, { cursor: 1.5 }])
        assert.strictEqual((yield* call("assets.browseStocks", { exposureCategory: "equity", ...bad })).status, 400)
      const beyond = yield* call("assets.browseStocks", { exposureCategory: "equity", cursor: 100_000 })
      assert.deepStrictEqual(beyond.body.result.data.json.items, [])
      assert.strictEqual(beyond.body.result.data.json.nextCursor, null)
    })
  )

  it.effect("getStockBrowseSnapshot answers the whole list, ranked by market capitalisation", () =>
    Effect.gen(function* () {
      const { ask } = yield* MarketApi
      const { items, totalCount } = yield* ask("assets.getStockBrowseSnapshot", { exposureCategory: "equity" })
      const equities = new Set(
        content.assets.filter(({ kind }) => kind === "equity").map((row) => row.assetCanonicalId)
      )
      assert.strictEqual(totalCount, tokenized.filter((row) => equities.has(row.assetCanonicalId)).length)
      assert.lengthOf(items, totalCount)
      const caps: Array<number> = []
      for (const ticker of [...new Set(items.map((item: any) => item.ticker))].slice(0, 12)) {
        const { assetId } = items.find((item: any) => item.ticker === ticker)
        const { equityDetails } = yield* ask("assets.getAssetDetails", { assetId })
        caps.push(Number(equityDetails.market.marketCapUsd))
      }
      assert.isAbove(caps[0]!, 0)
      assert.deepStrictEqual(
        caps,
        caps.toSorted((a, b) => b - a)
      )
    })
  )

  it.effect("browseStocks counts in availableTags what each tag would leave", () =>
    Effect.gen(function* () {
      const { ask } = yield* MarketApi
      const base = { exposureCategory: "equity" }
      const { availableTags } = yield* ask("assets.browseStocks", base)
      for (const group of ["type", "sector", "style", "cap", "region"]) {
        assert.isAbove(availableTags[group].length, 0, group)
        for (const { count, tag } of availableTags[group].slice(0, 4)) {
          const { totalCount } = yield* ask("assets.browseStocks", { ...base, filters: { [group]: [tag] } })
          assert.strictEqual(totalCount, count, `${group} ${tag}`)
        }
      }
    })
  )

  it.effect(
    "browseStocks joins the tags of a group and narrows by each group, and counts a group without its own tags",
    () =>
      Effect.gen(function* () {
        const { ask } = yield* MarketApi
        const base = { exposureCategory: "equity" }
        const total = (filters: object) =>
          Effect.map(ask("assets.browseStocks", { ...base, filters }), ({ totalCount }) => totalCount as number)
        const health = yield* total({ sector: ["health"] })
        const energy = yield* total({ sector: ["energy"] })
        assert.strictEqual(yield* total({ sector: ["health", "energy"] }), health + energy)
        const narrowed = yield* ask("assets.browseStocks", {
          ...base,
          filters: { sector: ["health"], region: ["north-america"] }
        })
        assert.isAtMost(narrowed.totalCount, health)
        const sectors = narrowed.availableTags.sector.map(({ tag }: { tag: string }) => tag)
        assert.include(sectors, "energy")
        assert.strictEqual(yield* total({ sector: ["no-such-sector"] }), 0)
      })
  )

  it.effect("browseStocks previews the first rows whatever tags and cursor ask for", () =>
    Effect.gen(function* () {
      const { ask } = yield* MarketApi
      const base = { issuerSlug: "ondo" }
      const plain = yield* ask("assets.browseStocks", base)
      const paged = yield* ask("assets.browseStocks", { ...base, cursor: 20, filters: { sector: ["energy"] } })
      assert.isAbove(plain.previewItems.length, 0)
      assert.deepStrictEqual(idsOf(paged.previewItems), idsOf(plain.previewItems))
      assert.deepStrictEqual(idsOf(plain.previewItems), idsOf(plain.items).slice(0, plain.previewItems.length))
    })
  )

  it.effect("rows of shares contain the last day's line of the share", () =>
    Effect.gen(function* () {
      const { ask } = yield* MarketApi
      const { items } = yield* ask("assets.browseStocks", { exposureSlug: "aapl" })
      for (const { marketData } of items) {
        const line = marketData.sparkline24h
        assert.isAbove(line.length, 12)
        assert.isAtMost(line.length, 96)
        const times = line.map(({ timestamp }: { timestamp: number }) => timestamp)
        assert.deepStrictEqual(
          times,
          times.toSorted((a: number, b: number) => a - b)
        )
        assert.isAtMost(times.at(-1) - times[0], 86_400_000)
        assert.match(line[0].value, figure)
      }
    })
  )

  it.effect(
    "browseStocksForSelection searches ticker, name and symbol on chain, and lists the chains of all matches",
    () =>
      Effect.gen(function* () {
        const { ask } = yield* MarketApi
        const find = (search: string, chainId?: number) =>
          ask("assets.browseStocksForSelection", {
            exposureCategory: "equity",
            search,
            ...(chainId === undefined ? {} : { chainId }),
            limit: 100
          })
        const byTicker = yield* find("TSLA")
        const bySymbol = yield* find("tslaon")
        const byName = yield* find("esl")
        assert.isTrue(byTicker.items.every(({ ticker }: any) => ticker === "TSLA"))
        assert.isAbove(bySymbol.items.length, 0)
        assert.isTrue(bySymbol.items.every(({ metadata }: any) => metadata.symbol === "TSLAon"))
        assert.includeMembers(idsOf(byName.items), idsOf(byTicker.items))
        const chains = [...new Set(byTicker.items.map(({ metadata }: any) => metadata.chainId))].sort(
          (a: any, b: any) => a - b
        )
        assert.deepStrictEqual(byTicker.availableChainIds, chains)
        const onOne = yield* find("TSLA", 1)
        assert.isTrue(onOne.items.every(({ metadata }: any) => metadata.chainId === 1))
        assert.deepStrictEqual(onOne.availableChainIds, chains)
        assert.strictEqual(onOne.totalCount, onOne.items.length)
      })
  )

  it.effect("getStockHighlights answers up to 24 companies and up to 15 movers, each company once", () =>
    Effect.gen(function* () {
      const { featuredItems, tickerItems } = yield* (yield* MarketApi).ask("assets.getStockHighlights")
      assert.lengthOf(featuredItems, 24)
      assert.lengthOf(tickerItems, 15)
      for (const items of [featuredItems, tickerItems]) {
        assert.strictEqual(new Set(items.map(({ ticker }: any) => ticker)).size, items.length)
      }
    })
  )
})
