/**
 * Widths of automatic bands, against the published formulas and against a search for the smallest loss in floating
 * point.
 */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { bandWidth, root } from "#domain/planning/bands/bandWidth.ts"

const share = (nano: bigint) => Number(nano) / 1e9

const terms = (weight: number, cost: number, fixed: number) => ({
  weight: BigInt(weight),
  costNano: BigInt(Math.round(cost * 1e9)),
  fixedCostNano: BigInt(Math.round(fixed * 1e9))
})

const auto = (
  { cost, fixed, weight }: { readonly weight: number; readonly cost: number; readonly fixed: number },
  riskAversion: number
) => {
  const { goal, half } = bandWidth({ kind: "auto", riskAversion }, terms(weight, cost, fixed), undefined)
  return { half: share(half), goal: share(goal) }
}

/** What a year loses at the outer and the inner edge, over sigma squared. */
const lossAt =
  ({ cost, fixed, weight }: { readonly weight: number; readonly cost: number; readonly fixed: number }, g: number) =>
  (outer: number, inner: number) => {
    const w = weight / 10_000
    const spread = (w * (1 - w)) ** 2
    return (
      (g * (outer ** 2 + inner ** 2)) / 12 + (spread * (fixed + cost * (outer - inner))) / (outer ** 2 - inner ** 2)
    )
  }

/** The smallest loss over a grid that is drawn ever closer around what it finds. */
const minLoss = (loss: (outer: number, inner: number) => number): number => {
  let [outer, part, reach] = [0.25, 0.5, 1]
  let least = Infinity
  for (let round = 0; round < 40; round += 1) {
    const [aroundOuter, aroundPart] = [outer, part]
    for (let i = -8; i <= 8; i += 1)
      for (let j = -8; j <= 8; j += 1) {
        const o = aroundOuter * Math.exp((i * reach) / 4)
        const p = Math.min(0.999_999, Math.max(0, aroundPart + (j * reach) / 16))
        const found = loss(o, o * p)
        if (found < least) [least, outer, part] = [found, o, p]
      }
    reach *= 0.8
  }
  return least
}

describe("bandWidth", () => {
  it("takes exact roots", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 10n ** 60n }), fc.constantFrom(3n, 4n), (value, degree) => {
        const found = root(value, degree)
        assert.isTrue(found ** degree <= value && (found + 1n) ** degree > value)
      }),
      { numRuns: 2_000 }
    )
  })

  it("without fixed cost is (3 f w^2 (1-w)^2 / (2 g))^(1/3), traded to the edge", () => {
    for (const [weight, cost, g] of [
      [2_500, 0.003, 10],
      [100, 0.001, 1],
      [9_000, 0.01, 300]
    ] as const) {
      const w = weight / 10_000
      const expected = Math.cbrt((3 * cost * w ** 2 * (1 - w) ** 2) / (2 * g))
      const { goal, half } = auto({ weight, cost, fixed: 0 }, g)
      assert.closeTo(half, expected, expected * 1e-5)
      assert.strictEqual(goal, half)
    }
  })

  it("without proportional cost is (12 (G/V) w^2 (1-w)^2 / g)^(1/4), traded to the target", () => {
    for (const [weight, fixed, g] of [
      [2_500, 0.0005, 10],
      [100, 0.001, 1]
    ] as const) {
      const w = weight / 10_000
      const expected = ((12 * fixed * w ** 2 * (1 - w) ** 2) / g) ** 0.25
      const { goal, half } = auto({ weight, cost: 0, fixed }, g)
      assert.closeTo(half, expected, expected * 1e-5)
      assert.strictEqual(goal, 0)
    }
  })

  it("with both costs loses no more than any other pair of edges", () => {
    fc.assert(
      fc.property(
        fc.tuple(
          fc.integer({ min: 50, max: 9_900 }),
          fc.integer({ min: 5, max: 200 }),
          fc.integer({ min: 1, max: 100_000 }),
          fc.integer({ min: 1, max: 1_000 })
        ),
        ([weight, costBps, fixedNano, g]) => {
          const [cost, fixed] = [costBps / 10_000, fixedNano / 1e9]
          const loss = lossAt({ weight, cost, fixed }, g)
          const { goal, half } = auto({ weight, cost, fixed }, g)
          assert.isTrue(half > goal && goal >= 0)
          assert.isAtMost(loss(half, goal), minLoss(loss) * 1.001)
        }
      ),
      { numRuns: 60 }
    )
  })

  it("of fixed bands is what the policy says: of the portfolio, or of the target", () => {
    const of = terms(2_500, 0.003, 0)
    assert.deepStrictEqual(bandWidth({ kind: "absolute", width: 500 }, of, undefined), {
      half: 50_000_000n,
      goal: 50_000_000n
    })
    assert.deepStrictEqual(bandWidth({ kind: "relative", width: 1_000 }, of, "half"), {
      half: 25_000_000n,
      goal: 12_500_000n
    })
    assert.strictEqual(bandWidth({ kind: "relative", width: 1_000 }, of, "target").goal, 0n)
  })
})
