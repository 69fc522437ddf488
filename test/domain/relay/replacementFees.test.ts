import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { feesAt, type Fees, type MarketFees, replacementFees } from "#domain/relay/replacementFees.ts"

const gwei = 1_000_000_000n
const fee = fc.bigInt({ min: 0n, max: 2_000n * gwei })
const offer = fc.record({ maxFeePerGas: fee, maxPriorityFeePerGas: fee })
const markets = fc.record({ baseFeePerGas: fee, tip: fee })

const limits = fc.record({ ceiling: fee, limit: fc.option(fee), isRefused: fc.boolean() })

const at = (ceiling: bigint, isRefused = false) => ({ ceiling, isRefused, limit: null })
const bump = (fees: Fees) => ({ _tag: "Bump", fees }) as const

/** What a block pays of an offer to whoever makes it, by EIP-1559's own text; null where it may not be included. */
const paidTip = ({ maxFeePerGas, maxPriorityFeePerGas }: Fees, { baseFeePerGas }: MarketFees): bigint | null => {
  if (maxFeePerGas < baseFeePerGas) return null
  const left = maxFeePerGas - baseFeePerGas
  return left < maxPriorityFeePerGas ? left : maxPriorityFeePerGas
}

describe("replacementFees", () => {
  it("offers no more while what is offered would be taken", () => {
    const offered = { maxFeePerGas: 30n, maxPriorityFeePerGas: 2n }
    assert.deepStrictEqual(replacementFees(offered, { baseFeePerGas: 28n, tip: 2n }, at(gwei)), { _tag: "Sufficient" })
  })

  it("follows a base fee that rose above the offer", () => {
    const offered = { maxFeePerGas: 1_000n, maxPriorityFeePerGas: 8n }
    const market = { baseFeePerGas: 1_001n, tip: 8n }
    assert.deepStrictEqual(
      replacementFees(offered, market, at(gwei)),
      bump({ maxFeePerGas: 2_010n, maxPriorityFeePerGas: 9n })
    )
  })

  it("follows tips that rose, and by an eighth at least, as nodes ask of a replacement", () => {
    const offered = { maxFeePerGas: 1_001n, maxPriorityFeePerGas: 8n }
    assert.deepStrictEqual(
      replacementFees(offered, { baseFeePerGas: 10n, tip: 50n }, at(gwei)),
      bump({ maxFeePerGas: 1_127n, maxPriorityFeePerGas: 50n })
    )
  })

  it("offers an eighth more where every node refused the fees, whatever the market shows", () => {
    const offered = { maxFeePerGas: 1_001n, maxPriorityFeePerGas: 8n }
    assert.deepStrictEqual(
      replacementFees(offered, { baseFeePerGas: 1n, tip: 1n }, at(gwei, true)),
      bump({ maxFeePerGas: 1_127n, maxPriorityFeePerGas: 9n })
    )
  })

  it("has nothing to offer when the ceiling does not allow an eighth more", () => {
    const offered = { maxFeePerGas: 800n, maxPriorityFeePerGas: 1n }
    const market = { baseFeePerGas: 0n, tip: 0n }
    assert.deepStrictEqual(replacementFees(offered, market, at(899n, true)), { _tag: "AboveCeiling" })
    assert.deepStrictEqual(
      replacementFees(offered, market, at(900n, true)),
      bump({ maxFeePerGas: 900n, maxPriorityFeePerGas: 2n })
    )
  })

  it("does not replace one that would not be taken by one that would not be taken either", () => {
    const offered = { maxFeePerGas: 100n, maxPriorityFeePerGas: 1n }
    assert.deepStrictEqual(replacementFees(offered, { baseFeePerGas: 500n, tip: 1n }, at(400n)), {
      _tag: "AboveCeiling"
    })
  })

  it("waits where the market asks more than the transaction may cost, and offers no more than that below it", () => {
    const offered = { maxFeePerGas: 1_000n, maxPriorityFeePerGas: 8n }
    const market = { baseFeePerGas: 1_001n, tip: 8n }
    const limited = (limit: bigint) => replacementFees(offered, market, { ...at(gwei), limit })
    // A node takes no replacement for less than 1,125.
    assert.deepStrictEqual(limited(1_124n), { _tag: "AboveLimit" })
    assert.deepStrictEqual(limited(1_125n), bump({ maxFeePerGas: 1_125n, maxPriorityFeePerGas: 9n }))
    assert.deepStrictEqual(limited(3_000n), bump({ maxFeePerGas: 2_010n, maxPriorityFeePerGas: 9n }))
    assert.deepStrictEqual(replacementFees(offered, market, { ...at(1_100n), limit: 1_050n }), { _tag: "AboveCeiling" })
  })

  it("is always taken by a node and by the market, never above the ceiling or its limit, and always a valid transaction", () => {
    fc.assert(
      fc.property(offer, markets, limits, (offered, market, { ceiling, isRefused, limit }) => {
        const answer = replacementFees(offered, market, { ceiling, isRefused, limit })
        const now = paidTip(offered, market)
        if (answer._tag === "Sufficient") {
          assert.isFalse(isRefused)
          assert.isTrue(now !== null && now >= market.tip)
        }
        if (answer._tag === "AboveLimit") {
          assert.isNotNull(limit)
          assert.strictEqual(replacementFees(offered, market, { ceiling, isRefused, limit: null })._tag, "Bump")
        }
        if (answer._tag !== "Bump") return
        assert.isTrue(isRefused || now === null || now < market.tip)
        for (const field of ["maxFeePerGas", "maxPriorityFeePerGas"] as const) {
          assert.isTrue(answer.fees[field] * 1_000n >= offered[field] * 1_125n)
          assert.isTrue(answer.fees[field] > offered[field])
        }
        const paid = paidTip(answer.fees, market)
        assert.isTrue(paid !== null && paid >= market.tip)
        assert.isTrue(answer.fees.maxFeePerGas <= ceiling)
        if (limit !== null) assert.isTrue(answer.fees.maxFeePerGas <= limit)
        assert.isTrue(answer.fees.maxPriorityFeePerGas <= answer.fees.maxFeePerGas)
      })
    )
  })
})

describe("feesAt", () => {
  it("is twice the base fee and the tip, never above the ceiling, and always a valid transaction", () => {
    fc.assert(
      fc.property(markets, fee, (market, ceiling) => {
        const { maxFeePerGas, maxPriorityFeePerGas } = feesAt(market, ceiling)
        const wanted = market.baseFeePerGas + market.baseFeePerGas + market.tip
        assert.strictEqual(maxFeePerGas, wanted > ceiling ? ceiling : wanted)
        assert.isTrue(maxPriorityFeePerGas <= maxFeePerGas && maxPriorityFeePerGas <= market.tip)
      })
    )
  })
})
