import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import { allocationProblems } from "#domain/strategy/allocationRules.ts"
import { arbUsdc, baseBtc, baseUsdc, baseWeth, catalogue } from "#test/support/assets.ts"

const of = (...entries: ReadonlyArray<readonly [{ readonly assetId: typeof baseUsdc.assetId }, number]>) =>
  entries.map(([{ assetId }, weight]) => ({ assetId, weight }))

const tradable = { known: catalogue, supported: [baseUsdc.chainId, arbUsdc.chainId] }

describe("an allocation", () => {
  it("is valid when all assets are known and weights sum to 100", () =>
    assert.isEmpty(allocationProblems(of([baseUsdc, 6000], [baseWeth, 4000]), tradable)))

  it("names the sum that is off", () =>
    assert.deepStrictEqual(allocationProblems(of([baseUsdc, 6000], [baseWeth, 3999]), tradable), [
      "allocation.assets: weights sum to 99.99, expected 100.00"
    ]))

  it("names an asset of which its chain has not said what it is", () =>
    assert.deepStrictEqual(
      allocationProblems(of([baseUsdc, 6000], [baseWeth, 4000]), { ...tradable, unanswered: [baseWeth.assetId] }),
      [
        `allocation.assets.1.assetId: unchecked asset ${baseWeth.assetId}; its chain has not said yet what it is; send it again in a minute`
      ]
    ))

  it("names a duplicate where it stands", () =>
    assert.deepStrictEqual(allocationProblems(of([baseUsdc, 5000], [baseUsdc, 5000]), tradable), [
      `allocation.assets.1.assetId: duplicate asset ${baseUsdc.assetId}`
    ]))

  it("is stopped at the asset gate before its structure is checked", () => {
    const known = new Map([
      [baseUsdc.assetId, baseUsdc],
      [baseBtc.assetId, { ...baseBtc, isBlocked: true }]
    ])
    assert.deepStrictEqual(allocationProblems(of([baseUsdc, 1], [baseBtc, 1], [arbUsdc, 1]), { ...tradable, known }), [
      `allocation.assets.1.assetId: blocked asset ${baseBtc.assetId}`,
      `allocation.assets.2.assetId: unknown asset ${arbUsdc.assetId}; its chain is supported, but no token list names it`
    ])
  })

  it("distinguishes an asset of a chain that is not supported from one that no list names", () =>
    assert.deepStrictEqual(
      allocationProblems(of([arbUsdc, 10_000]), { known: new Map(), supported: [baseUsdc.chainId] }),
      [`allocation.assets.0.assetId: unsupported chain 42161 of ${arbUsdc.assetId}; supported chains are 8453`]
    ))

  it("any split of 100 percent over distinct known assets is valid, and one basis point more is not", () =>
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 9_998 }), fc.integer({ min: 1, max: 9_998 }), (a, b) => {
        fc.pre(a + b < 10_000)
        const split = of([baseUsdc, a], [baseWeth, b], [arbUsdc, 10_000 - a - b])
        assert.isEmpty(allocationProblems(split, tradable))
        assert.lengthOf(allocationProblems([{ ...split[0]!, weight: a + 1 }, ...split.slice(1)], tradable), 1)
      })
    ))
})
