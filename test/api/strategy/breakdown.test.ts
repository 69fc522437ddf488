import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { ValidationFailed } from "#domain/errors/Errors.ts"
import { content } from "#layers/catalogue/content.ts"
import { CatalogueStore } from "#layers/sql/asset/CatalogueStore.ts"
import { newTenant, readOnlyKey } from "#test/api/support/actors.ts"
import { Api, ApiLive } from "#test/api/support/Api.ts"
import { assertData, assertError } from "#test/api/support/assertions.ts"

const path = "/v2/assets/allocation-breakdown"

const subject = (symbol: string) => content.assets.find((asset) => asset.symbol === symbol)!.assetCanonicalId
const token = (symbol: string, chain: string) =>
  content.representations.find((each) => each.symbol === symbol && each.caipAssetId.startsWith(chain))!.caipAssetId

const usdcOnBase = token("USDC", "eip155:8453")
const teslaOnSolana = token("TSLAx", "solana:")
const amazon = subject("AMZN")
const unknownToken = "eip155:1/erc20:0x52908400098527886E0F7030069857D2E4169EE7"

const call = Effect.fnUntraced(function* (body: unknown) {
  yield* (yield* CatalogueStore).load(content)
  const { key } = yield* newTenant()
  return yield* (yield* Api).call("POST", path, { key, body })
})

const three = [
  { assetCanonicalId: amazon, weight: "50" },
  { caipAssetId: teslaOnSolana, symbol: "mine", weight: "30.0" },
  { caipAssetId: usdcOnBase.toLowerCase(), weight: "20" }
]

const bucketsOf = (breakdown: any) => Object.fromEntries(breakdown.buckets.map(({ key, weight }: any) => [key, weight]))

layer(ApiLive, { excludeTestServices: true })("allocation breakdown", (it) => {
  it.effect("by default every dimension, each holding in its most confident category", () =>
    Effect.gen(function* () {
      const answer = yield* call({ holdings: three })
      assertData(answer, 200, ["normalization", "holdings", "breakdowns", "diagnostics"])
      const { breakdowns, diagnostics, holdings, normalization } = answer.json.data
      assert.deepStrictEqual(normalization, { inputMode: "weights", normalizedTotal: "1", sourceTotal: "100" })
      assert.deepStrictEqual(holdings, [
        {
          inputIndex: 0,
          assetCanonicalId: amazon,
          caipAssetId: null,
          symbol: "AMZN",
          name: "Amazon",
          normalizedWeight: "0.5",
          sourceValue: "50"
        },
        {
          inputIndex: 1,
          assetCanonicalId: subject("TSLA"),
          caipAssetId: teslaOnSolana,
          symbol: "TSLAx",
          name: "Tesla",
          normalizedWeight: "0.3",
          sourceValue: "30"
        },
        {
          inputIndex: 2,
          assetCanonicalId: subject("USDC"),
          caipAssetId: usdcOnBase,
          symbol: "USDC",
          name: "USD Coin",
          normalizedWeight: "0.2",
          sourceValue: "20"
        }
      ])
      assert.deepStrictEqual(
        breakdowns.map(({ aggregationMode, dimension, totalMayExceedOne, totalWeight }: any) => [
          dimension,
          aggregationMode,
          totalMayExceedOne,
          totalWeight
        ]),
        [
          ["sector", "single", false, "0.8"],
          ["industryGroup", "single", false, "0.8"],
          ["industry", "single", false, "0.8"],
          ["subIndustry", "single", false, "0.8"],
          ["platformSector", "single", false, "1"],
          ["platformTheme", "single", false, "0.8"],
          ["cryptoCategory", "single", false, "0.2"]
        ]
      )
      assert.deepStrictEqual(bucketsOf(breakdowns[4]), { consumer: "0.8", cash: "0.2" })
      assert.deepStrictEqual(breakdowns[6], {
        dimension: "cryptoCategory",
        aggregationMode: "single",
        totalWeight: "0.2",
        absoluteTotalWeight: "0.2",
        totalMayExceedOne: false,
        buckets: [
          {
            key: "dollar-stablecoins",
            label: "Dollar stablecoins",
            weight: "0.2",
            absoluteWeight: "0.2",
            holdingCount: 1,
            holdings: [
              {
                inputIndex: 2,
                assetCanonicalId: subject("USDC"),
                caipAssetId: usdcOnBase,
                symbol: "USDC",
                name: "USD Coin",
                weight: "0.2",
                confidence: "0.99"
              }
            ]
          }
        ]
      })
      assert.deepStrictEqual(diagnostics.unresolved, [])
      assert.deepStrictEqual(diagnostics.unclassified, [])
      assert.deepStrictEqual(diagnostics.lowConfidence, [])
      assert.deepStrictEqual(diagnostics.unsupported.at(0), {
        inputIndex: 2,
        assetCanonicalId: subject("USDC"),
        caipAssetId: usdcOnBase,
        symbol: "USDC",
        dimension: "sector",
        reason: "sector does not apply to an asset of kind stablecoin"
      })
    })
  )

  it.effect("apportioned splits by confidence and sums to the whole", () =>
    Effect.gen(function* () {
      const { json } = yield* call({
        dimensions: ["subIndustry"],
        multiCategoryMode: "apportioned",
        holdings: [{ assetCanonicalId: amazon, weight: "1" }]
      })
      const [breakdown] = json.data.breakdowns
      assert.deepInclude(breakdown, { aggregationMode: "apportioned", totalMayExceedOne: false, totalWeight: "1" })
      assert.deepStrictEqual(bucketsOf(breakdown), {
        "online-marketplaces": "0.556962025316455696",
        "cloud-hosting": "0.443037974683544304"
      })
    })
  )

  it.effect("overlap counts a holding in each of its categories", () =>
    Effect.gen(function* () {
      const { json } = yield* call({
        dimensions: ["cryptoCategory", "sector"],
        multiCategoryMode: "overlap",
        holdings: [
          { assetCanonicalId: amazon, weight: "1" },
          { assetCanonicalId: subject("LINK"), weight: "1" }
        ]
      })
      const [crypto, sector] = json.data.breakdowns
      assert.deepInclude(sector, { aggregationMode: "overlap", totalMayExceedOne: true, totalWeight: "1" })
      assert.deepStrictEqual(bucketsOf(sector), { lifestyle: "0.5", technology: "0.5" })
      assert.deepStrictEqual(bucketsOf(crypto), { "cross-chain": "0.5", "oracles-and-data": "0.5" })
      assert.strictEqual(crypto.totalWeight, "1")
      assert.deepStrictEqual(json.data.diagnostics.lowConfidence, [
        {
          inputIndex: 1,
          assetCanonicalId: subject("LINK"),
          caipAssetId: null,
          symbol: "LINK",
          dimension: "cryptoCategory",
          reason: "cryptoCategory cross-chain describes this asset with low confidence",
          confidence: "0.45"
        }
      ])
    })
  )

  it.effect("one asset under many tokens is one bucket; an unknown token is reported", () =>
    Effect.gen(function* () {
      const { json } = yield* call({
        dimensions: ["cryptoCategory"],
        holdings: [
          { caipAssetId: token("WETH", "eip155:1/"), weight: "0.25" },
          { caipAssetId: token("WETH", "eip155:42161"), weight: "0.25" },
          { caipAssetId: unknownToken, symbol: "FAKE", weight: "0.5" }
        ]
      })
      const { breakdowns, diagnostics, holdings } = json.data
      assert.deepStrictEqual(bucketsOf(breakdowns[0]), { "contract-networks": "0.5" })
      assert.strictEqual(breakdowns[0].buckets[0].holdingCount, 2)
      assert.deepInclude(holdings[2], { assetCanonicalId: null, caipAssetId: unknownToken, symbol: "FAKE", name: null })
      assert.deepInclude(diagnostics.unresolved[0], { inputIndex: 2, caipAssetId: unknownToken, symbol: "FAKE" })
      assert.deepStrictEqual(diagnostics.unsupported, [])
    })
  )

  it.effect("a short holding is below zero", () =>
    Effect.gen(function* () {
      const { json } = yield* call({
        dimensions: ["platformSector"],
        holdings: [
          { caipAssetId: usdcOnBase, weight: "3" },
          { assetCanonicalId: amazon, weight: "-1" }
        ]
      })
      assert.strictEqual(json.data.normalization.sourceTotal, "4")
      const [breakdown] = json.data.breakdowns
      assert.deepStrictEqual(bucketsOf(breakdown), { cash: "0.75", consumer: "-0.25" })
      assert.deepInclude(breakdown, { totalWeight: "0.5", absoluteTotalWeight: "1" })
    })
  )

  it.effect("takes 200 holdings in every dimension and mode, and no more", () =>
    Effect.gen(function* () {
      const holdings = Array.from({ length: 200 }, (_, index) => ({
        caipAssetId: content.representations[index]!.caipAssetId,
        weight: `${index + 1}.5`
      }))
      for (const multiCategoryMode of ["primary", "apportioned", "overlap"]) {
        const { json, status } = yield* call({ multiCategoryMode, holdings })
        assert.strictEqual(status, 200)
        assert.deepStrictEqual(json.data.diagnostics.unresolved, [])
        const broad = json.data.breakdowns[4]
        if (multiCategoryMode !== "overlap") assert.strictEqual(broad.totalWeight, "1")
      }
      assertError(
        yield* call({ holdings: [...holdings, holdings[0]] }),
        ValidationFailed,
        "holdings: Expected 1 to 200 holdings"
      )
    })
  )

  it.effect("null says that an id is not there", () =>
    Effect.gen(function* () {
      const { status } = yield* call({
        holdings: [{ assetCanonicalId: amazon.toUpperCase(), caipAssetId: null, symbol: null, weight: "1" }]
      })
      assert.strictEqual(status, 200)
    })
  )

  const one = { assetCanonicalId: amazon, weight: "1" }
  const refused: ReadonlyArray<readonly [string, unknown, string]> = [
    ["no holdings", { holdings: [] }, "holdings: Expected 1 to 200 holdings"],
    ["holdings left out", {}, "holdings: is required"],
    ["neither id", { holdings: [{ weight: "1" }] }, "holdings.0: Expected exactly one of"],
    ["both ids", { holdings: [{ ...one, caipAssetId: usdcOnBase }] }, "holdings.0: Expected exactly one of"],
    ["a bare address", { holdings: [{ caipAssetId: usdcOnBase.slice(-42), weight: "1" }] }, "holdings.0.caipAssetId: "],
    [
      "a wrong checksum",
      { holdings: [{ caipAssetId: usdcOnBase.replace("fCD6", "fcD6"), weight: "1" }] },
      "holdings.0.caipAssetId: Expected a CAIP-19"
    ],
    ["no UUID", { holdings: [{ ...one, assetCanonicalId: "amazon" }] }, "holdings.0.assetCanonicalId: Expected a UUID"],
    ["a weight that is a number", { holdings: [{ ...one, weight: 1 }] }, "holdings.0.weight: "],
    ["an exponent", { holdings: [{ ...one, weight: "1e3" }] }, "holdings.0.weight: Expected a decimal string"],
    ["too many places", { holdings: [{ ...one, weight: `0.${"1".repeat(19)}` }] }, "holdings.0.weight: Expected"],
    ["weights of zero", { holdings: [{ ...one, weight: "-0.0" }] }, "holdings: the absolute weights sum to 0"],
    ["an unknown dimension", { dimensions: ["colour"], holdings: [one] }, "dimensions.0: "],
    ["a dimension twice", { dimensions: ["sector", "sector"], holdings: [one] }, "dimensions: Expected"],
    ["no dimension", { dimensions: [], holdings: [one] }, "dimensions: Expected 1 to 7 dimensions"],
    ["an unknown mode", { multiCategoryMode: "best", holdings: [one] }, "multiCategoryMode: "],
    ["an unknown key", { holdings: [one], mode: "primary" }, "mode: "],
    ["an unknown key of a holding", { holdings: [{ ...one, value: "1" }] }, "holdings.0.value: "]
  ]
  for (const [name, body, detail] of refused) {
    it.effect(`refuses ${name}`, () =>
      Effect.gen(function* () {
        assertError(yield* call(body), ValidationFailed, detail)
      })
    )
  }

  it.effect("the default tier is enough", () =>
    Effect.gen(function* () {
      const key = yield* readOnlyKey(yield* newTenant())
      const { status } = yield* (yield* Api).call("POST", path, { key, body: { holdings: [one] } })
      assert.strictEqual(status, 200)
    })
  )
})
