import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { AssetCanonicalId } from "#domain/asset/CanonicalAsset.ts"
import { Catalogue } from "#domain/asset/Catalogue.ts"
import type { CatalogueContent } from "#domain/asset/CatalogueContent.ts"
import { dimensions } from "#domain/asset/Dimension.ts"
import { type AssetId, spl } from "#domain/values/Caip.ts"
import { content } from "#layers/catalogue/content.ts"
import { CatalogueStore } from "#layers/sql/asset/CatalogueStore.ts"
import { eachDatabase } from "#test/support/database.ts"

const gold = "11111111-1111-4111-8111-111111111111" as AssetCanonicalId
const ether = "22222222-2222-4222-8222-222222222222" as AssetCanonicalId
const weth = "eip155:1/erc20:0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2" as AssetId
const wormholeEther = spl("7vfCXTUXx5WJV5JADk17DUJ4ksgau7utNKj4b963voxs")

const small: CatalogueContent = {
  assets: [
    { assetCanonicalId: gold, kind: "commodity", symbol: "XAU", name: "Gold" },
    { assetCanonicalId: ether, kind: "crypto", symbol: "ETH", name: "Ether" }
  ],
  representations: [
    { caipAssetId: weth, assetCanonicalId: ether, issuer: null, unitModel: "plain", decimals: 18, symbol: "WETH" },
    {
      caipAssetId: wormholeEther,
      assetCanonicalId: ether,
      issuer: "wormhole",
      unitModel: "plain",
      decimals: 8,
      symbol: "WETH"
    }
  ],
  classifications: [
    {
      assetCanonicalId: ether,
      dimension: "cryptoCategory",
      key: "contract-networks",
      label: "Smart contract networks",
      confidence: 9_800,
      rank: 0
    },
    {
      assetCanonicalId: ether,
      dimension: "platformSector",
      key: "digital-assets",
      label: "Digital assets",
      confidence: 10_000,
      rank: 0
    }
  ]
}

const unknown = "33333333-3333-4333-8333-333333333333" as AssetCanonicalId

eachDatabase("CatalogueStore", (it) => {
  it.effect("is empty before anything is loaded", () =>
    Effect.gen(function* () {
      const { resolve, classifications } = yield* Catalogue
      const { canonical, represented } = yield* resolve({ canonical: [gold], represented: [weth] })
      assert.deepStrictEqual([canonical.size, represented.size], [0, 0])
      assert.deepStrictEqual(yield* classifications([gold], dimensions), [])
    })
  )

  it.effect("resolves subjects by their id and tokens to their subject", () =>
    Effect.gen(function* () {
      assert.isTrue(yield* (yield* CatalogueStore).load(small))
      const { resolve } = yield* Catalogue
      const found = yield* resolve({ canonical: [gold, unknown, gold], represented: [weth, wormholeEther, weth] })
      assert.deepStrictEqual([...found.canonical], [[gold, small.assets[0]!]])
      assert.deepStrictEqual([...found.represented.keys()].sort(), [weth, wormholeEther].sort())
      assert.deepStrictEqual(found.represented.get(weth), { ...small.assets[1]!, symbolOnChain: "WETH" })
      const none = yield* resolve({ canonical: [], represented: [] })
      assert.deepStrictEqual([none.canonical.size, none.represented.size], [0, 0])
    })
  )

  it.effect("takes tokens of which none has an issuer, and content that is empty in part", () =>
    Effect.gen(function* () {
      const { load } = yield* CatalogueStore
      const [first] = small.representations
      assert.isTrue(yield* load({ ...small, representations: [first!] }))
      assert.isTrue(yield* load({ ...small, representations: [], classifications: [] }))
      const { represented } = yield* (yield* Catalogue).resolve({ canonical: [], represented: [weth] })
      assert.strictEqual(represented.size, 0)
    })
  )

  it.effect("answers the categories of the asked assets in the asked dimensions", () =>
    Effect.gen(function* () {
      yield* (yield* CatalogueStore).load(small)
      const { classifications } = yield* Catalogue
      assert.deepStrictEqual(yield* classifications([ether, gold], ["cryptoCategory", "sector"]), [
        small.classifications[0]!
      ])
      assert.deepStrictEqual(yield* classifications([gold], dimensions), [])
    })
  )

  it.effect("writes the same content once, and other content in its place", () =>
    Effect.gen(function* () {
      const store = yield* CatalogueStore
      const sql = yield* SqlClient.SqlClient
      const loadedAt = Effect.map(sql<{ readonly loaded_at: Date }>`SELECT loaded_at FROM catalogue_content`, ([row]) =>
        row!.loaded_at.getTime()
      )
      yield* store.load(small)
      const before = yield* loadedAt
      assert.isFalse(yield* store.load(structuredClone(small)))
      assert.strictEqual(yield* loadedAt, before)

      const renamed = {
        assets: [{ ...small.assets[0]!, name: "Gold, one ounce" }],
        representations: [],
        classifications: []
      }
      assert.isTrue(yield* store.load(renamed))
      const { canonical, represented } = yield* (yield* Catalogue).resolve({
        canonical: [gold, ether],
        represented: [weth]
      })
      assert.deepStrictEqual([...canonical.values()], renamed.assets)
      assert.strictEqual(represented.size, 0)
    })
  )

  it.effect("of several processes that bring the same content one writes", () =>
    Effect.gen(function* () {
      const store = yield* CatalogueStore
      yield* store.load({ assets: [], representations: [], classifications: [] })
      const wrote = yield* Effect.all(
        Array.from({ length: 8 }, () => store.load(small)),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(
        wrote.filter((isNew) => isNew),
        [true]
      )
    })
  )

  it.effect("a content that cannot be written leaves the one before in place", () =>
    Effect.gen(function* () {
      const store = yield* CatalogueStore
      yield* store.load(small)
      const broken = { ...small, assets: small.assets.slice(0, 1) }
      assert.strictEqual((yield* Effect.exit(store.load(broken)))._tag, "Failure")
      const { represented } = yield* (yield* Catalogue).resolve({ canonical: [], represented: [weth] })
      assert.strictEqual(represented.size, 1)
      assert.isFalse(yield* store.load(small))
    })
  )

  it.effect("takes what is checked in, and gives it back", () =>
    Effect.gen(function* () {
      yield* (yield* CatalogueStore).load(content)
      const { resolve, classifications } = yield* Catalogue
      const { represented } = yield* resolve({
        canonical: [],
        represented: content.representations.map(({ caipAssetId }) => caipAssetId)
      })
      for (const { assetCanonicalId, caipAssetId, symbol } of content.representations) {
        assert.strictEqual(represented.get(caipAssetId)?.assetCanonicalId, assetCanonicalId)
        assert.strictEqual(represented.get(caipAssetId)?.symbolOnChain, symbol)
      }
      const kept = yield* classifications(
        content.assets.map(({ assetCanonicalId }) => assetCanonicalId),
        dimensions
      )
      const order = (each: (typeof kept)[number]) => `${each.assetCanonicalId} ${each.dimension} ${each.key}`
      assert.deepStrictEqual(
        kept.toSorted((a, b) => (order(a) < order(b) ? -1 : 1)),
        content.classifications.toSorted((a, b) => (order(a) < order(b) ? -1 : 1))
      )
    })
  )
})
