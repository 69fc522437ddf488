import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import { addressOf } from "#domain/values/Caip.ts"
import * as Decimal from "#domain/values/Decimal.ts"
import { priceLegs } from "#domain/trading/priceLegs.ts"
import { baseBtc, baseUsdc, baseWeth } from "#test/support/assets.ts"

const leg = {
  sell: baseUsdc.assetId,
  buy: baseWeth.assetId,
  sellAmountRaw: 2_500_000_000n,
  valueUsd: 2500n * Decimal.one,
  expectedBuyRaw: 1_000_000n
}
const direct = [addressOf(baseUsdc.assetId), addressOf(baseWeth.assetId)]
const overHub = [addressOf(baseUsdc.assetId), addressOf(baseBtc.assetId), addressOf(baseWeth.assetId)]
const limits = { slippageBps: 50, priceImpactBps: 100 }
const quote = (buyAmountRaw: bigint, priceImpactBps = 0, path = direct) => ({
  buyAmountRaw,
  priceImpactBps,
  execution: { _tag: "Evm", path } as const,
  feeRaw: null,
  furtherFeeBps: 30 * (path.length - 2)
})
const codes = (priced: ReturnType<typeof priceLegs>) => priced.skips.map(({ code }) => code)

describe("priceLegs", () => {
  it("holds a swap to the greater of quote less slippage and feed less impact less slippage: one limit, not two", () => {
    const minOutAt = (buyAmountRaw: bigint, path = direct) =>
      priceLegs([leg], [quote(buyAmountRaw, 0, path)], limits).swaps[0]!.minBuyAmountRaw
    // The example of decision 77: slippage 0.5 percent and impact 1 percent; the feed promises 1,000,000.
    assert.strictEqual(minOutAt(1_000_000n), 995_000n)
    assert.strictEqual(minOutAt(990_000n), 985_050n)
    assert.strictEqual(minOutAt(986_000n), 985_000n)
    assert.strictEqual(minOutAt(982_000n, overHub), 982_000n)
  })

  it("never lets a swap lose more than impact and slippage against the feed, whatever is quoted", () =>
    fc.assert(
      fc.property(
        fc.bigInt({ min: 1n, max: 2_000_000n }),
        fc.integer({ min: 0, max: 1_000 }),
        fc.integer({ min: 0, max: 1_000 }),
        (buyAmountRaw, slippageBps, priceImpactBps) => {
          const [swap] = priceLegs([leg], [quote(buyAmountRaw)], { ...limits, slippageBps, priceImpactBps }).swaps
          if (swap === undefined) return
          const lostOfFeed = 1_000_000n - swap.minBuyAmountRaw
          assert.isTrue(lostOfFeed * 10_000n <= 1_000_000n * BigInt(slippageBps + priceImpactBps) + 10_000n)
        }
      )
    ))

  it("puts the minimum slippage below the quote", () => {
    const { swaps, skips } = priceLegs([leg], [quote(1_000_000n)], limits)
    assert.isEmpty(skips)
    assert.strictEqual(swaps[0]!.minBuyAmountRaw, 995_000n)
    assert.strictEqual(swaps[0]!.sellAmountRaw, leg.sellAmountRaw)
  })

  it("skips a pair without a quote", () =>
    assert.deepStrictEqual(codes(priceLegs([leg], [null], limits)), ["NO_ROUTE"]))

  it("allows the limit of price impact and not a basis point more", () => {
    assert.isEmpty(codes(priceLegs([leg], [quote(1_000_000n, 100)], limits)))
    assert.deepStrictEqual(codes(priceLegs([leg], [quote(1_000_000n, 101)], limits)), ["PRICE_IMPACT"])
  })

  it("refuses a pool that was pushed away from the price feed", () => {
    assert.isEmpty(codes(priceLegs([leg], [quote(985_000n)], limits)))
    assert.deepStrictEqual(codes(priceLegs([leg], [quote(984_999n)], { ...limits, slippageBps: 49 })), ["PRICE_IMPACT"])
  })

  it("grants a second hop its fee", () => {
    assert.deepStrictEqual(codes(priceLegs([leg], [quote(982_000n)], limits)), ["PRICE_IMPACT"])
    assert.isEmpty(codes(priceLegs([leg], [quote(982_000n, 0, overHub)], limits)))
  })

  it("skips a swap that would yield nothing", () =>
    assert.deepStrictEqual(codes(priceLegs([{ ...leg, expectedBuyRaw: 1n }], [quote(0n)], limits)), [
      "BELOW_MIN_TRADE"
    ]))

  it("gives away no unit of a coarse token, and says when it is one that is missing", () => {
    const units = { ...leg, expectedBuyRaw: 3n }
    assert.strictEqual(priceLegs([units], [quote(3n)], limits).swaps[0]!.minBuyAmountRaw, 3n)
    const [short] = priceLegs([units], [quote(2n)], limits).skips
    assert.strictEqual(short!.code, "BELOW_MIN_TRADE")
    assert.include(short!.reason, "gives 2 of the 3 units due, and a unit of what is bought is worth 833.33 USD")
    assert.deepStrictEqual(codes(priceLegs([units], [quote(1n)], limits)), ["PRICE_IMPACT"])
  })

  it("a quote better than the feed is taken", () =>
    assert.lengthOf(priceLegs([leg], [quote(2_000_000n)], limits).swaps, 1))

  it("each leg becomes one swap or one skip, and no minimum is above its quote", () =>
    fc.assert(
      fc.property(
        fc.array(
          fc.option(
            fc.record({ amount: fc.bigInt({ min: 0n, max: 10n ** 24n }), impact: fc.integer({ min: 0, max: 10_000 }) })
          ),
          { maxLength: 20 }
        ),
        fc.integer({ min: 0, max: 1000 }),
        (answers, slippageBps) => {
          const quotes = answers.map((answer) => (answer === null ? null : quote(answer.amount, answer.impact)))
          const priced = priceLegs(
            answers.map(() => leg),
            quotes,
            { ...limits, slippageBps }
          )
          assert.strictEqual(priced.swaps.length + priced.skips.length, answers.length)
          for (const { minBuyAmountRaw } of priced.swaps) {
            assert.isTrue(minBuyAmountRaw > 0n)
            assert.isTrue(quotes.some((one) => one !== null && minBuyAmountRaw <= one.buyAmountRaw))
          }
        }
      )
    ))
})
