/** Answers of providers whose items are not all as they should be. */
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { coinMarkets } from "#domain/marketData/coinDatasets.ts"

import { CoinRow, NewsRow, toArticle, toCoin } from "#layers/market/coingecko/rows.ts"
import { readItems } from "#layers/market/readItems.ts"

const good = { id: "bitcoin", symbol: "btc", name: "Bitcoin", current_price: 60000.5, market_cap: 1.2e12 }

describe("readItems", () => {
  it("an item that lacks what it needs is a typed error for that item alone, and an unknown field breaks nothing", () => {
    const rows = [good, { ...good, id: 7 }, null, { ...good, id: "ethereum", brand_new: { nested: [1] } }, "text", {}]
    const { items, problems } = readItems(CoinRow, rows, toCoin)
    assert.deepStrictEqual(
      items.map(({ coinId }) => coinId),
      ["bitcoin", "ethereum"]
    )
    assert.deepStrictEqual(
      problems.map(({ _tag, item }) => [_tag, item]),
      [1, 2, 4, 5].map((place) => ["ItemMalformed", `item ${place}`])
    )
    assert.isTrue(Schema.is(coinMarkets.schema as Schema.Schema<unknown>)(items))
  })

  it("figures come out exactly, and what is not a figure is null, never zero", () => {
    const coin = (row: object) => readItems(CoinRow, [{ ...good, ...row }], toCoin).items[0]!
    assert.strictEqual(coin({}).priceUsd, "60000.5")
    assert.strictEqual(coin({}).marketCapUsd, "1200000000000")
    assert.strictEqual(coin({ current_price: 1e-7 }).priceUsd, "0.0000001")
    assert.strictEqual(coin({ price_change_percentage_24h: -1.25 }).priceChangePercentage24h, "-1.25")
    for (const value of [null, undefined, 0, -1, "abc", Number.NaN, {}, []])
      assert.isNull(coin({ current_price: value }).priceUsd)
    assert.isNull(coin({ market_cap_rank: 1.5 }).marketCapRank)
    assert.isNull(coin({ last_updated: "yesterday" }).updatedAt)
  })

  it("links that a page would show are https or left out", () => {
    const links = ["http://a.example", "javascript:alert(1)", "data:text/html,x", "/path", 7]
    const rows = links.map((url) => ({ title: "t", url }))
    assert.lengthOf(readItems(NewsRow, rows, toArticle).items, 0)
    const { items } = readItems(NewsRow, [{ title: "t", url: "https://a.example/1", image: "javascript:x" }], toArticle)
    assert.deepInclude(items[0]!, { url: "https://a.example/1", imageUrl: null })
  })
})
