/**
 * What is checked in: every identifier is well formed, nothing is there twice, and nothing is left without a category.
 */
import { assert, describe, it } from "@effect/vitest"
import { Option, Schema } from "effect"
import { readdirSync, readFileSync } from "node:fs"
import { AssetCanonicalId } from "#domain/asset/CanonicalAsset.ts"
import { appliesTo, dimensions } from "#domain/asset/Dimension.ts"
import { AssetId } from "#domain/values/Caip.ts"
import { content } from "#layers/catalogue/content.ts"
import { printTokenFile, TokenFile } from "#layers/catalogue/TokenFile.ts"
import { industries, industryGroups, sectors, subIndustries } from "#layers/catalogue/taxonomy/industries.ts"

const { assets, classifications, representations } = content

const kindOf = new Map(assets.map(({ assetCanonicalId, kind }) => [assetCanonicalId, kind]))

/** The part of an id before the token itself. */
const chainOf = (caipAssetId: string) => caipAssetId.slice(0, caipAssetId.indexOf("/"))

const countBy = (keys: ReadonlyArray<string>) =>
  Object.fromEntries([...Map.groupBy(keys, (key) => key)].map(([key, all]) => [key, all.length]))

const duplicates = (keys: ReadonlyArray<string>) => Object.entries(countBy(keys)).filter(([, count]) => count > 1)

describe("the catalogue's identifiers", () => {
  it("every token's id is canonical: EIP-55, or a mint of 32 bytes", () =>
    assert.deepStrictEqual(
      representations
        .filter(({ caipAssetId }) => {
          const read = Schema.decodeUnknownOption(AssetId)(caipAssetId)
          return Option.isNone(read) || read.value !== caipAssetId
        })
        .map(({ caipAssetId }) => caipAssetId),
      []
    ))

  it("every subject has a UUID of its own", () => {
    for (const { assetCanonicalId } of assets)
      assert.isTrue(Option.isSome(Schema.decodeUnknownOption(AssetCanonicalId)(assetCanonicalId)), assetCanonicalId)
    assert.deepStrictEqual(duplicates(assets.map(({ assetCanonicalId }) => assetCanonicalId)), [])
  })

  it("no token is there twice, and no subject under two kinds", () => {
    assert.deepStrictEqual(duplicates(representations.map(({ caipAssetId }) => caipAssetId.toLowerCase())), [])
    assert.deepStrictEqual(duplicates(assets.map(({ symbol }) => symbol)), [])
  })

  it("ids that are out in the world stay as they are", () => {
    const idOf = (symbol: string) => assets.find((asset) => asset.symbol === symbol)?.assetCanonicalId
    assert.strictEqual(idOf("TSLA"), "5587421d-facd-473b-8b4d-f9f262d28852" as AssetCanonicalId)
    assert.strictEqual(idOf("USDC"), "bcdeaefd-258f-4614-bcd6-8c5eea3d5720" as AssetCanonicalId)
    assert.strictEqual(idOf("ETH"), "e78cdd58-c840-420e-833a-75f754871ae4" as AssetCanonicalId)
  })
})

describe("the catalogue's tokens", () => {
  it("each stands for a subject, and each subject has at least one", () => {
    for (const { assetCanonicalId, caipAssetId } of representations)
      assert.isTrue(kindOf.has(assetCanonicalId), caipAssetId)
    const represented = new Set(representations.map(({ assetCanonicalId }) => assetCanonicalId))
    assert.deepStrictEqual(
      assets.filter(({ assetCanonicalId }) => !represented.has(assetCanonicalId)).map(({ symbol }) => symbol),
      []
    )
  })

  it("their numbers on each chain", () =>
    assert.deepStrictEqual(countBy(representations.map(({ caipAssetId }) => chainOf(caipAssetId))), {
      "eip155:1": 73,
      "eip155:8453": 24,
      "eip155:42161": 26,
      "eip155:56": 30,
      "eip155:4663": 105,
      "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp": 46
    }))

  it("tokenized shares of companies, by issuer", () =>
    assert.deepStrictEqual(
      countBy(
        representations.flatMap(({ assetCanonicalId, issuer }) =>
          issuer !== null && kindOf.get(assetCanonicalId) === "equity" ? [issuer] : []
        )
      ),
      { robinhood: 90, xstocks: 29, ondo: 39, coinbase: 10, dinari: 11, superstate: 1 }
    ))

  it("subjects, by kind", () =>
    assert.deepStrictEqual(countBy(assets.map(({ kind }) => kind)), {
      equity: 91,
      etf: 12,
      crypto: 45,
      stablecoin: 7,
      commodity: 1
    }))
})

describe("the catalogue's categories", () => {
  it("every company has all four levels, and a broad sector", () => {
    for (const { assetCanonicalId, symbol } of assets.filter(({ kind }) => kind === "equity")) {
      const own = classifications.filter((each) => each.assetCanonicalId === assetCanonicalId)
      for (const dimension of ["sector", "industryGroup", "industry", "subIndustry", "platformSector"])
        assert.isTrue(
          own.some((each) => each.dimension === dimension),
          `${symbol} ${dimension}`
        )
    }
  })

  it("every coin has a use, and everything a broad sector", () => {
    const placed = new Set(classifications.map((each) => `${each.assetCanonicalId} ${each.dimension}`))
    for (const { assetCanonicalId, kind, symbol } of assets) {
      assert.isTrue(placed.has(`${assetCanonicalId} platformSector`), symbol)
      if (appliesTo("cryptoCategory", kind)) assert.isTrue(placed.has(`${assetCanonicalId} cryptoCategory`), symbol)
    }
  })

  it("each is of a known subject in a dimension that speaks about its kind, once, with a confidence", () => {
    for (const { assetCanonicalId, confidence, dimension, key, label } of classifications) {
      assert.isTrue(appliesTo(dimension, kindOf.get(assetCanonicalId)!), `${key} of ${assetCanonicalId}`)
      assert.match(key, /^[a-z]+(-[a-z]+)*$/)
      assert.isAbove(label.length, 2)
      assert.isTrue(Number.isInteger(confidence) && confidence > 0 && confidence <= 10_000)
    }
    assert.deepStrictEqual(
      duplicates(
        classifications.map(({ assetCanonicalId, dimension, key }) => `${assetCanonicalId} ${dimension} ${key}`)
      ),
      []
    )
    assert.deepStrictEqual(
      [...new Set(classifications.map(({ dimension }) => dimension))].sort(),
      [...dimensions].sort()
    )
  })

  it("a level above is as sure as the surest below it", () => {
    const dell = assets.find(({ symbol }) => symbol === "DELL")!
    const fits = (dimension: string) =>
      classifications
        .filter((each) => each.assetCanonicalId === dell.assetCanonicalId && each.dimension === dimension)
        .map(({ confidence, key, rank }) => [key, confidence, rank])
    assert.deepStrictEqual(fits("subIndustry"), [
      ["servers-and-storage", 8000, 0],
      ["phones-and-computers", 7000, 1]
    ])
    assert.deepStrictEqual(fits("industry"), [["computers", 8000, 0]])
    assert.deepStrictEqual(fits("sector"), [["technology", 8000, 0]])
  })

  it("no row of the four levels is without a company", () => {
    const used = new Set(classifications.map(({ dimension, key }) => `${dimension} ${key}`))
    const levels = { sector: sectors, industryGroup: industryGroups, industry: industries, subIndustry: subIndustries }
    const unused = Object.entries(levels).flatMap(([dimension, table]) =>
      Object.keys(table).filter((key) => !used.has(`${dimension} ${key}`))
    )
    assert.deepStrictEqual(unused, [])
  })
})

describe("the catalogue's files", () => {
  const folder = new URL("../../../layers/catalogue/tokens/", import.meta.url)
  const files = readdirSync(folder).map((name) => readFileSync(new URL(name, folder), "utf8"))
  const groups = files.map((text) => Schema.decodeUnknownSync(Schema.fromJsonString(TokenFile))(text))

  it("are written as the refresh writes them, so that its change is the change of a line", () =>
    assert.deepStrictEqual(groups.map(printTokenFile), files))

  it("say of each token where it is from and since when", () => {
    const sources = groups.flatMap((file) => file.groups)
    for (const { source, tokens } of sources) {
      assert.isAbove(source.what.length, 10)
      for (const [, symbol, , , day] of tokens) assert.isAtMost(Date.parse(day), Date.parse(source.asOf), symbol)
    }
    assert.strictEqual(
      sources.reduce((sum, { tokens }) => sum + tokens.length, 0),
      representations.length
    )
  })
})
