import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { addressOf, erc20, type ChainId, type EvmAddress } from "#domain/values/Caip.ts"
import * as Decimal from "#domain/values/Decimal.ts"
import type { PricingLimits } from "#domain/trading/priceLegs.ts"
import { isSoldAt, partOf, priceSale, quoteRequests, type SaleVerdict, slicedSkip } from "#domain/trading/priceSale.ts"
import type { Quote, QuotedPath } from "#domain/trading/Venue.ts"
import type { Swap } from "#domain/trading/Swap.ts"
import { baseBtc, baseUsdc, baseWeth } from "#test/support/assets.ts"

const chainId = baseUsdc.chainId
const leg = {
  sell: baseUsdc.assetId,
  buy: baseWeth.assetId,
  sellAmountRaw: 2_500_000_000n,
  valueUsd: 2500n * Decimal.one,
  expectedBuyRaw: 1_000_000n
}
const [usdc, weth, btc] = [baseUsdc, baseWeth, baseBtc].map(({ assetId }) => addressOf(assetId)) as [
  EvmAddress,
  EvmAddress,
  EvmAddress
]
const limits: PricingLimits = { slippageBps: 50, priceImpactBps: 100 }
const slicing = { poolShareBps: 100, minUsd: Decimal.one, sold: [] }
const sliced = { ...limits, slicing }
const quote = (buyAmountRaw: bigint, priceImpactBps = 0): Quote => ({
  buyAmountRaw,
  priceImpactBps,
  execution: { _tag: "Evm", path: [usdc, weth], inputsRaw: [leg.sellAmountRaw] },
  feeRaw: 7_500_000n,
  furtherFeeBps: 0
})
const swapsOf = (verdict: SaleVerdict): ReadonlyArray<Swap> => {
  if (Result.isFailure(verdict)) return assert.fail(verdict.failure.reason)
  return verdict.success
}
const skipOf = (verdict: SaleVerdict) => {
  if (Result.isSuccess(verdict)) return assert.fail("the leg is made")
  return verdict.failure
}

describe("slices of a leg", () => {
  it("make the part that the market takes, at the part's own minimum, and say what is left", () => {
    const cut = { ...quote(399_000n, 100), sellAmountRaw: 1_000_000_000n }
    const part = partOf(leg, cut.sellAmountRaw)
    assert.deepInclude(part, { valueUsd: 1_000n * Decimal.one, expectedBuyRaw: 400_000n })
    const [swap] = swapsOf(priceSale(leg, cut, sliced))
    assert.deepInclude(swap, { sellAmountRaw: 1_000_000_000n, minBuyAmountRaw: 397_005n })
    const left = slicedSkip(leg, part.sellAmountRaw, sliced)
    assert.deepInclude(left, { code: "SLICED", valueUsd: 1_500n * Decimal.one })
    for (const figure of ["1000.00 USD of 2500.00 USD", "100 basis points", "1500.00 USD is left"])
      assert.include(left!.reason, figure)
    assert.isUndefined(slicedSkip(leg, leg.sellAmountRaw, sliced))
  })

  it("are none where the market takes nothing or less than the minimum trade now; all of the leg is left to later runs", () => {
    const sold = [
      { sell: leg.sell, buy: leg.buy, raw: 100_000_000n },
      { sell: leg.buy, buy: leg.sell, raw: 9n }
    ]
    const used = { ...limits, slicing: { ...slicing, sold } }
    for (const [buyAmountRaw, sellAmountRaw] of [
      [0n, 0n],
      [399n, 900_000n]
    ] as const) {
      const verdict = skipOf(priceSale(leg, { ...quote(buyAmountRaw), sellAmountRaw }, used))
      assert.deepInclude(verdict, { code: "SLICED", valueUsd: leg.valueUsd })
      assert.include(verdict.reason, "100.00 USD of the asset were sold in the last day")
      assert.isFalse(isSoldAt([leg], used)(0, { ...quote(buyAmountRaw), sellAmountRaw }))
    }
  })

  it("are asked for with the limits of loss and what was sold into the pools of the leg's chain in the last day", () => {
    const elsewhere = erc20(42161 as ChainId, usdc)
    const sold = [
      { sell: leg.sell, buy: leg.buy, raw: 70n },
      { sell: elsewhere, buy: elsewhere, raw: 9n }
    ]
    const [request] = quoteRequests(chainId, [leg], { ...limits, slicing: { ...slicing, sold } })
    const { minRaw, ...rest } = request!.atMost!
    assert.deepStrictEqual([minRaw(0), minRaw(30)], [985_001n, 982_001n])
    assert.deepStrictEqual(rest, {
      priceImpactBps: 100,
      poolShareBps: 100,
      sold: [{ sell: usdc, buy: weth, raw: 70n }]
    })
    assert.isUndefined(quoteRequests(chainId, [leg], limits)[0]!.atMost)
  })
})

describe("several paths of a leg", () => {
  const paths: ReadonlyArray<QuotedPath> = [
    {
      execution: { _tag: "Evm", path: [usdc, weth], inputsRaw: [1_500_000_000n] },
      sellAmountRaw: 1_500_000_000n,
      buyAmountRaw: 599_000n,
      priceImpactBps: 40,
      feeRaw: 4_500_000n,
      furtherFeeBps: 0
    },
    {
      execution: { _tag: "Evm", path: [usdc, btc, weth], inputsRaw: [1_000_000_000n, 5n] },
      sellAmountRaw: 1_000_000_000n,
      buyAmountRaw: 397_000n,
      priceImpactBps: 60,
      feeRaw: 5_991_000n,
      furtherFeeBps: 30
    }
  ]
  const both: Quote = { ...quote(996_000n, 60), paths }

  it("are a swap each, with a minimum amount out of its own, and sell the leg together", () => {
    const swaps = swapsOf(priceSale(leg, both, limits))
    assert.deepStrictEqual(
      swaps.map(({ execution, feeRaw, minBuyAmountRaw, sellAmountRaw }) => ({
        execution,
        feeRaw,
        minBuyAmountRaw,
        sellAmountRaw
      })),
      paths.map(({ buyAmountRaw, execution, feeRaw, sellAmountRaw }) => ({
        execution,
        feeRaw,
        minBuyAmountRaw: (buyAmountRaw * 9_950n) / 10_000n,
        sellAmountRaw
      }))
    )
  })

  it("are refused together when the limits refuse one of them", () => {
    const [first, second] = paths as [QuotedPath, QuotedPath]
    const verdict = skipOf(priceSale(leg, { ...both, paths: [first, { ...second, priceImpactBps: 101 }] }, limits))
    assert.deepInclude(verdict, { code: "PRICE_IMPACT", valueUsd: leg.valueUsd })
  })

  it("are asked for where the gas of a swap is known, for the eight legs of most value, and must pay for their gas", () => {
    const swapGas = [{ chainId, usd: Decimal.one / 4n }]
    const legs = Array.from({ length: 10 }, (_, index) => partOf(leg, leg.sellAmountRaw - BigInt(index) * 1_000_000n))
    const requests = quoteRequests(chainId, legs, { ...limits, swapGas })
    // A quarter of a dollar of $2,500 that buy 1,000,000 units, and a basis point.
    const { gainRaw, within } = requests[0]!.split!
    assert.strictEqual(gainRaw, 200n)
    assert.strictEqual(within.priceImpactBps, 100)
    assert.deepStrictEqual([within.minRaw(0), within.minRaw(30)], [985_001n, 982_001n])
    assert.deepStrictEqual(
      requests.map(({ split }) => split !== undefined),
      legs.map((_, index) => index < 8)
    )
    assert.isUndefined(quoteRequests(42161 as ChainId, [leg], { ...limits, swapGas })[0]!.split)
  })
})
