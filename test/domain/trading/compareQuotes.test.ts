/** Tests when a route is better than the venue, after fees and gas, and under which limits it is taken. */
import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import * as Decimal from "#domain/values/Decimal.ts"
import { assumedExecution } from "#domain/trading/Swap.ts"
import { byYield, type Comparison, netRaw, quoteFault } from "#domain/trading/compareQuotes.ts"
import { baseUsdc, baseWeth } from "#test/support/assets.ts"

const leg = {
  sell: baseUsdc.assetId,
  buy: baseWeth.assetId,
  sellAmountRaw: 1_000_000_000n,
  valueUsd: 1_000n * Decimal.one,
  expectedBuyRaw: 1_000_000n
}

const comparison: Comparison = {
  leg,
  quote: {
    buyAmountRaw: 1_000_000n,
    execution: assumedExecution(leg),
    priceImpactBps: 5,
    feeRaw: null,
    furtherFeeBps: 0
  },
  isQuoteAcceptable: true,
  limits: { slippageBps: 50, priceImpactBps: 100 },
  minAdvantageBps: 10
}

const offer = (expectedRaw: bigint, gasUsd = 0n, minRaw = expectedRaw) => ({
  tool: "pools",
  expectedRaw,
  minRaw,
  gasUsd
})

const dear: Comparison = {
  ...comparison,
  quote: { ...comparison.quote, buyAmountRaw: 900_000n, priceImpactBps: 900 },
  isQuoteAcceptable: false
}

describe("quoteFault", () => {
  it("takes a route from the least advantage on", () => {
    assert.isUndefined(quoteFault(comparison, offer(1_001_000n)))
    assert.include(quoteFault(comparison, offer(1_000_999n)), "1001000 would be needed")
  })

  it("counts gas in the bought asset, rounded against the route", () => {
    assert.strictEqual(netRaw(leg, offer(1_002_000n, Decimal.one)), 1_001_000n)
    assert.strictEqual(netRaw(leg, offer(1_002_000n, 1n)), 1_001_999n)
    assert.isUndefined(quoteFault(comparison, offer(1_002_000n, Decimal.one)))
    assert.isString(quoteFault(comparison, offer(1_002_000n, Decimal.one + 1n)))
  })

  it("requires a minimum at or above the minimum of the venue's swap", () => {
    assert.isUndefined(quoteFault(comparison, offer(1_010_000n, 0n, 995_000n)))
    assert.include(quoteFault(comparison, offer(1_010_000n, 0n, 994_999n)), "the minimum acceptable is 995000")
  })

  it("stands in for a venue that would move the market too far, within that same limit", () => {
    assert.isUndefined(quoteFault(dear, offer(990_000n)))
    assert.include(quoteFault(dear, offer(989_899n)), "the limit is 100")
    assert.include(quoteFault(dear, offer(990_000n, 0n, 984_999n)), "the minimum acceptable is 985000")
  })

  it("a route that pays more than an unusable venue is refused all the same", () => {
    const dry = { ...dear, quote: { ...dear.quote, buyAmountRaw: 1n } }
    assert.include(quoteFault(dry, offer(500_000n)), "less than the price feed")
  })

  it("what is taken is never worse than the venue, whatever is offered", () =>
    fc.assert(
      fc.property(
        fc.tuple(
          fc.bigInt({ min: 1n, max: 10n ** 30n }),
          fc.bigInt({ min: 0n, max: 10n ** 30n }),
          fc.bigInt({ min: 0n, max: 10n ** 22n }),
          fc.bigInt({ min: 0n, max: 10n ** 30n }),
          fc.integer({ min: 0, max: 1_000 }),
          fc.boolean()
        ),
        ([venueRaw, expectedRaw, gasUsd, minRaw, minAdvantageBps, isQuoteAcceptable]) => {
          const quote = { ...comparison.quote, buyAmountRaw: venueRaw }
          const asked = { ...comparison, quote, minAdvantageBps, isQuoteAcceptable }
          const given = { tool: "pools", expectedRaw, gasUsd, minRaw }
          if (quoteFault(asked, given) !== undefined) return
          assert.isTrue(netRaw(leg, given) >= venueRaw)
          assert.isTrue(expectedRaw * 10_000n >= venueRaw * BigInt(10_000 + minAdvantageBps))
          assert.isTrue(minRaw > 0n)
          if (isQuoteAcceptable) assert.isTrue(minRaw >= (venueRaw * 9_950n) / 10_000n)
          else assert.isTrue(minRaw >= (leg.expectedBuyRaw * 9_850n) / 10_000n)
        }
      )
    ))
})

describe("byYield", () => {
  it("puts what is left after gas first, not what is promised", () => {
    const offers = [offer(1_000_000n), offer(1_002_000n, 3n * Decimal.one), offer(1_001_000n)]
    assert.deepStrictEqual(
      byYield(leg, offers).map(({ expectedRaw }) => expectedRaw),
      [1_001_000n, 1_000_000n, 1_002_000n]
    )
  })
})
