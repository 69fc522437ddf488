import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { DimensionBreakdown, MultiCategoryMode } from "#domain/breakdown/Breakdown.ts"
import { normalizeWeights } from "#domain/breakdown/normalizeWeights.ts"
import * as HoldingWeight from "#domain/breakdown/HoldingWeight.ts"
import { asset, breakDown, category, holding, idOf, token, tokenOf } from "#test/domain/breakdown/examples.ts"

const weightsOf = ({ buckets }: DimensionBreakdown) =>
  Object.fromEntries(buckets.map(({ key, weight }) => [key, HoldingWeight.format(weight)]))

describe("Breakdowns", () => {
  it.effect("shares are exact to 18 places, and the last digits go where most was cut", () =>
    Effect.gen(function* () {
      const { holdings, sourceTotal } = yield* breakDown(
        { holdings: [holding(1, "1"), holding(2, "1"), holding(3, "1"), holding(4, "0")] },
        [],
        []
      )
      assert.strictEqual(HoldingWeight.format(sourceTotal), "3")
      assert.deepStrictEqual(
        holdings.map(({ normalizedWeight }) => HoldingWeight.format(normalizedWeight)),
        ["0.333333333333333334", "0.333333333333333333", "0.333333333333333333", "0"]
      )
    })
  )

  it("which of an asset's holdings gets a last digit does not depend on the unit", () => {
    const shares = (unit: bigint) =>
      normalizeWeights([holding(0, 3n * unit), holding(1, 3n * unit), holding(1, 12n * unit)])
    assert.deepStrictEqual(shares(1n), [166666666666666667n, 166666666666666667n, 666666666666666666n])
    assert.deepStrictEqual(shares(4n), shares(1n))
  })

  it.effect("a short holding is divided by the absolute sum and keeps its sign", () =>
    Effect.gen(function* () {
      const { dimensions, holdings, sourceTotal } = yield* breakDown(
        { holdings: [holding(1, "60"), holding(2, "-40"), holding(3, "100")] },
        [asset(1), asset(2), asset(3)],
        [category(1, "a", { percent: 90 }), category(2, "a", { percent: 90 }), category(3, "b", { percent: 90 })]
      )
      assert.strictEqual(HoldingWeight.format(sourceTotal), "200")
      assert.deepStrictEqual(
        holdings.map(({ normalizedWeight }) => HoldingWeight.format(normalizedWeight)),
        ["0.3", "-0.2", "0.5"]
      )
      const [sector] = dimensions
      assert.deepStrictEqual(
        sector!.buckets.map(({ absoluteWeight, key, weight }) => [
          key,
          HoldingWeight.format(weight),
          HoldingWeight.format(absoluteWeight)
        ]),
        [
          ["a", "0.1", "0.5"],
          ["b", "0.5", "0.5"]
        ]
      )
      assert.strictEqual(HoldingWeight.format(sector!.totalWeight), "0.6")
      assert.strictEqual(HoldingWeight.format(sector!.absoluteTotalWeight), "1")
    })
  )

  it.effect("weights that are all zero are refused", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(breakDown({ holdings: [holding(1, "0"), holding(2, "-0.0")] }, [asset(1)], []))
      assert.strictEqual(error._tag, "ValidationFailed")
      assert.deepStrictEqual(error.details, ["holdings: the absolute weights sum to 0"])
    })
  )

  const modes: ReadonlyArray<readonly [MultiCategoryMode, Record<string, string>, string]> = [
    ["primary", { a: "0.7", b: "0.3" }, "1"],
    ["apportioned", { a: "0.42", b: "0.58" }, "1"],
    ["overlap", { a: "0.7", b: "1" }, "1.7"]
  ]
  for (const [mode, expected, total] of modes) {
    it.effect(`${mode}: a holding with two categories`, () =>
      Effect.gen(function* () {
        const { dimensions } = yield* breakDown(
          { mode, holdings: [holding(1, "70"), holding(2, "30")] },
          [asset(1), asset(2)],
          [
            category(1, "b", { percent: 60, rank: 1 }),
            category(1, "a", { percent: 90 }),
            category(2, "b", { percent: 100 })
          ]
        )
        assert.deepStrictEqual(weightsOf(dimensions[0]!), expected)
        assert.strictEqual(HoldingWeight.format(dimensions[0]!.totalWeight), total)
      })
    )
  }

  it.effect("of equally confident categories the lower rank comes first, then the key", () =>
    Effect.gen(function* () {
      const { dimensions } = yield* breakDown(
        { holdings: [holding(1, "1"), holding(2, "2")] },
        [asset(1), asset(2)],
        [
          category(1, "a", { percent: 80, rank: 1 }),
          category(1, "b", { percent: 80, rank: 0 }),
          category(2, "d", { percent: 80 }),
          category(2, "c", { percent: 80 })
        ]
      )
      assert.deepStrictEqual(Object.keys(weightsOf(dimensions[0]!)), ["c", "b"])
    })
  )

  it.effect("tokens count as what they stand for, under their own symbol", () =>
    Effect.gen(function* () {
      const { dimensions, holdings } = yield* breakDown(
        { holdings: [token(1, "1", "mine"), holding(1, "3", "mine")] },
        [asset(1)],
        [category(1, "a", { percent: 90 })]
      )
      assert.deepStrictEqual(
        holdings.map(({ assetCanonicalId, caipAssetId, name, symbol }) => [
          assetCanonicalId,
          caipAssetId,
          symbol,
          name
        ]),
        [
          [idOf(1), tokenOf(1), "wS1", "Asset 1"],
          [idOf(1), null, "S1", "Asset 1"]
        ]
      )
      assert.deepStrictEqual(weightsOf(dimensions[0]!), { a: "1" })
      assert.deepStrictEqual(
        dimensions[0]!.buckets[0]!.contributions.map(({ confidence, holding }) => [holding.inputIndex, confidence]),
        [
          [0, 9000],
          [1, 9000]
        ]
      )
    })
  )

  it.effect("says what it cannot place, and leaves it out of the totals", () =>
    Effect.gen(function* () {
      const { diagnostics, dimensions, holdings } = yield* breakDown(
        {
          dimensions: ["sector", "cryptoCategory"],
          holdings: [token(1, "1", "mine"), holding(2, "1"), holding(3, "1"), holding(4, "1"), holding(5, "1")]
        },
        [asset(3, "stablecoin"), asset(4), asset(5)],
        [
          category(3, "dollars", { percent: 49, rank: 0, dimension: "cryptoCategory" }),
          category(5, "a", { percent: 50 })
        ]
      )
      assert.deepStrictEqual(
        [holdings[0]!.symbol, holdings[0]!.name, holdings[0]!.assetCanonicalId],
        ["mine", null, null]
      )
      assert.deepStrictEqual([holdings[1]!.symbol, holdings[1]!.assetCanonicalId], [null, idOf(2)])
      const reported = (items: ReadonlyArray<{ readonly holding: { readonly inputIndex: number } }>) =>
        items.map(({ holding, ...item }) => [holding.inputIndex, "dimension" in item ? item.dimension : null])
      assert.deepStrictEqual(reported(diagnostics.unresolved), [
        [0, null],
        [1, null]
      ])
      assert.deepStrictEqual(reported(diagnostics.unsupported), [
        [2, "sector"],
        [3, "cryptoCategory"],
        [4, "cryptoCategory"]
      ])
      assert.deepStrictEqual(reported(diagnostics.unclassified), [[3, "sector"]])
      assert.deepStrictEqual(reported(diagnostics.lowConfidence), [[2, "cryptoCategory"]])
      assert.deepStrictEqual(dimensions.map(weightsOf), [{ a: "0.2" }, { dollars: "0.2" }])
      assert.deepStrictEqual(
        dimensions.map(({ totalWeight }) => HoldingWeight.format(totalWeight)),
        ["0.2", "0.2"]
      )
    })
  )

  it.effect("low confidence is reported of the buckets that a holding is in, not of the others", () =>
    Effect.gen(function* () {
      const categories = [category(1, "a", { percent: 90 }), category(1, "b", { percent: 40, rank: 1 })]
      const request = { holdings: [holding(1, "1")] }
      const reported = Effect.map(breakDown({ ...request, mode: "apportioned" }, [asset(1)], categories), (found) =>
        found.diagnostics.lowConfidence.map(({ confidence, reason }) => [confidence, reason])
      )
      assert.deepStrictEqual(yield* reported, [[4000, "sector b describes this asset with low confidence"]])
      const { diagnostics } = yield* breakDown(request, [asset(1)], categories)
      assert.deepStrictEqual(diagnostics.lowConfidence, [])
    })
  )
})
