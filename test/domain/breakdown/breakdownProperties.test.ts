import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as fc from "fast-check"
import { apportion } from "#domain/breakdown/apportion.ts"
import type { Breakdown, HoldingInput, MultiCategoryMode } from "#domain/breakdown/Breakdown.ts"
import { normalizeWeights } from "#domain/breakdown/normalizeWeights.ts"
import * as Decimal from "#domain/values/Decimal.ts"
import { asset, breakDown, category, holding, idOf } from "#test/domain/breakdown/examples.ts"

const numRuns = 400
const assets = Array.from({ length: 12 }, (_, index) => asset(index, index % 4 === 3 ? "crypto" : "equity"))
const keys = ["a", "b", "c", "d", "e"]

/** Up to four categories an asset, some equally confident. */
const categories = fc
  .array(
    fc.tuple(
      fc.integer({ min: 0, max: 11 }),
      fc.constantFrom(...keys),
      fc.constantFrom(10, 33, 60, 60, 99),
      fc.integer({ min: 0, max: 2 })
    ),
    { maxLength: 40 }
  )
  .map((rows) => [
    ...new Map(
      rows.map(([index, key, percent, rank]) => [`${index}${key}`, category(index, key, { percent, rank })])
    ).values()
  ])

/** Weights that seldom share a remainder, and weights that often do. */
const anyWeight = fc.oneof(
  fc.bigInt({ min: -1_000_000n, max: 1_000_000n }),
  fc.bigInt({ min: 0n, max: 10n ** 36n }),
  fc.constantFrom(1n, -1n, 3n * Decimal.one, 0n)
)
const equalWeight = fc.constantFrom(1n, 1n, 2n, -1n)

/** Holdings of known and unknown assets, some of them twice. */
const holdings = fc
  .constantFrom(anyWeight, equalWeight)
  .chain((weight) => fc.array(fc.tuple(fc.integer({ min: 0, max: 14 }), weight), { minLength: 1, maxLength: 30 }))
  .map((rows) => rows.map(([index, value]) => holding(index, value)))
  .filter((all) => all.some((each) => each.weight !== 0n))

type Categories = ReadonlyArray<ReturnType<typeof category>>

const run = (mode: MultiCategoryMode, all: ReadonlyArray<HoldingInput>, of: Categories): Breakdown =>
  Effect.runSync(breakDown({ mode, holdings: all }, assets, of))

const check = (holds: (all: ReadonlyArray<HoldingInput>, of: Categories) => void) =>
  fc.assert(fc.property(holdings, categories, holds), { numRuns })

const magnitude = (value: bigint) => (value < 0n ? -value : value)

const sum = (values: ReadonlyArray<bigint>) => values.reduce((total, value) => total + value, 0n)

const bucketsOf = ({ dimensions }: Breakdown) =>
  dimensions[0]!.buckets.map(({ absoluteWeight, contributions, key, weight }) => ({
    key,
    weight,
    absoluteWeight,
    parts: contributions.map((part) => `${part.holding.assetCanonicalId} ${part.weight}`).sort()
  }))

/** Normalized weights of the holdings that have a category. */
const classified = ({ holdings: all }: Breakdown, of: Categories) => {
  const ids = new Set(
    of.filter((each) => Number(each.assetCanonicalId.slice(-12)) % 4 !== 3).map((each) => each.assetCanonicalId)
  )
  return all.filter(({ assetCanonicalId }) => ids.has(assetCanonicalId ?? idOf(99)))
}

describe("breakdown: properties", () => {
  it("parts sum to the whole, each within one of its exact share", () =>
    fc.assert(
      fc.property(
        fc.bigInt({ min: 0n, max: 10n ** 20n }),
        fc.array(fc.bigInt({ min: 0n, max: 10n ** 20n }), { minLength: 1 }).filter((all) => sum(all) > 0n),
        (whole, weights) => {
          const parts = apportion(whole, weights)
          assert.strictEqual(sum(parts), whole)
          for (const [index, part] of parts.entries()) {
            const gap = magnitude(part * sum(weights) - whole * weights[index]!)
            assert.isTrue(gap < sum(weights))
          }
        }
      ),
      { numRuns }
    ))

  it("absolute shares sum to exactly one, with the signs of the weights", () =>
    check((all) => {
      const shares = normalizeWeights(all)
      assert.strictEqual(sum(shares.map(magnitude)), Decimal.one)
      for (const [index, share] of shares.entries()) assert.isTrue(share * all[index]!.weight >= 0n)
    }))

  it("the unit of the weights does not matter", () =>
    fc.assert(
      fc.property(holdings, fc.bigInt({ min: 1n, max: 10n ** 9n }), (all, unit) => {
        const scaled = all.map((each) => ({ ...each, weight: each.weight * unit }))
        const shares = normalizeWeights(all)
        const own = (index: number) => `${all[index]!.assetCanonicalId} ${all[index]!.weight} ${shares[index]}`
        const other = normalizeWeights(scaled)
        const others = (index: number) => `${all[index]!.assetCanonicalId} ${all[index]!.weight} ${other[index]}`
        assert.deepStrictEqual(all.map((_, index) => own(index)).sort(), all.map((_, index) => others(index)).sort())
      }),
      { numRuns }
    ))

  it("the order of the holdings does not change the buckets", () =>
    fc.assert(
      fc.property(
        holdings.chain((all) => fc.tuple(fc.constant(all), fc.shuffledSubarray([...all], { minLength: all.length }))),
        categories,
        fc.constantFrom<MultiCategoryMode>("primary", "apportioned", "overlap"),
        ([all, shuffled], of, mode) =>
          assert.deepStrictEqual(bucketsOf(run(mode, shuffled, of)), bucketsOf(run(mode, all, of)))
      ),
      { numRuns }
    ))

  it("primary: each holding with a category is in exactly one bucket", () =>
    check((all, of) => {
      const found = run("primary", all, of)
      const placed = found.dimensions[0]!.buckets.flatMap(({ contributions }) => contributions)
      assert.deepStrictEqual(
        placed.map((part) => part.holding.inputIndex).sort((a, b) => a - b),
        classified(found, of).map(({ inputIndex }) => inputIndex)
      )
      for (const part of placed) assert.strictEqual(part.weight, part.holding.normalizedWeight)
    }))

  it("apportioned: the buckets sum to exactly what has a category", () =>
    check((all, of) => {
      const found = run("apportioned", all, of)
      const weights = classified(found, of).map(({ normalizedWeight }) => normalizedWeight)
      const [sector] = found.dimensions
      assert.strictEqual(sum(sector!.buckets.map(({ weight }) => weight)), sum(weights))
      assert.strictEqual(sector!.totalWeight, sum(weights))
      assert.strictEqual(sector!.absoluteTotalWeight, sum(weights.map(magnitude)))
    }))

  it("overlap: no bucket is below that of another mode", () =>
    check((all, of) => {
      const overlap = new Map(
        bucketsOf(run("overlap", all, of)).map(({ absoluteWeight, key }) => [key, absoluteWeight])
      )
      for (const mode of ["primary", "apportioned"] as const)
        for (const { absoluteWeight, key } of bucketsOf(run(mode, all, of)))
          assert.isTrue(absoluteWeight <= overlap.get(key)!, `${mode} ${key}`)
    }))

  it("buckets come largest first", () =>
    check((all, of) => {
      const sizes = bucketsOf(run("apportioned", all, of))
      const sorted = sizes.toSorted((a, b) =>
        a.absoluteWeight === b.absoluteWeight ? (a.key < b.key ? -1 : 1) : a.absoluteWeight > b.absoluteWeight ? -1 : 1
      )
      assert.deepStrictEqual(sizes, sorted)
    }))

  it("every holding is in a bucket or in exactly one diagnosis", () =>
    check((all, of) => {
      const { diagnostics, dimensions } = run("primary", all, of)
      const indices = [
        ...dimensions[0]!.buckets.flatMap(({ contributions }) => contributions),
        ...diagnostics.unresolved,
        ...diagnostics.unsupported,
        ...diagnostics.unclassified
      ].map((item) => item.holding.inputIndex)
      assert.deepStrictEqual(
        indices.sort((a, b) => a - b),
        all.map((_, index) => index)
      )
    }))
})
