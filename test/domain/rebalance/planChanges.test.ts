/** Tests when a plan is another one than the previewed. */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import type { ChainId } from "#domain/values/Caip.ts"
import { assumedExecution } from "#domain/trading/Swap.ts"
import { planChanges } from "#domain/rebalance/preview/planChanges.ts"
import type { PreviewedChain, PreviewedPlan } from "#domain/rebalance/preview/Preview.ts"
import { baseBtc, baseUsdc, baseWeth } from "#test/support/assets.ts"

const base = baseUsdc.chainId as ChainId

const swap = (
  {
    expectedRaw,
    minBuyAmountRaw,
    sellAmountRaw
  }: { readonly sellAmountRaw: bigint; readonly expectedRaw: bigint; readonly minBuyAmountRaw: bigint },
  buy = baseWeth.assetId
) => ({
  sell: baseUsdc.assetId,
  buy,
  sellAmountRaw,
  minBuyAmountRaw,
  expectedBuyRaw: expectedRaw,
  execution: assumedExecution({ sell: baseUsdc.assetId, buy })
})

const chain = (swaps: PreviewedChain["swaps"], more: Partial<PreviewedChain> = {}): PreviewedChain => ({
  chainId: base,
  outcome: swaps.length === 0 ? "nothing" : "trades",
  swaps,
  transfers: [],
  skips: [],
  reason: null,
  gas: null,
  ...more
})

const plan = (chains: ReadonlyArray<PreviewedChain>, strategyVersion = 1): PreviewedPlan => ({
  strategyVersion,
  slippageBps: 50,
  chains
})

const previewed = plan([chain([swap({ sellAmountRaw: 1_000_000n, expectedRaw: 400_000n, minBuyAmountRaw: 398_000n })])])

describe("planChanges", () => {
  it("finds none while amounts stay within the slippage and prices above the minimums", () => {
    for (const now of [
      swap({ sellAmountRaw: 1_000_000n, expectedRaw: 400_000n, minBuyAmountRaw: 398_000n }),
      swap({ sellAmountRaw: 1_005_000n, expectedRaw: 400_000n, minBuyAmountRaw: 398_000n }),
      swap({ sellAmountRaw: 995_000n, expectedRaw: 400_000n, minBuyAmountRaw: 390_000n }),
      swap({ sellAmountRaw: 1_000_000n, expectedRaw: 398_000n, minBuyAmountRaw: 396_000n })
    ]) {
      assert.deepStrictEqual(planChanges(previewed, plan([chain([now])])), [])
    }
  })

  it("holds a trade over several paths against the preview as one, however it is divided", () => {
    const halves = plan([
      chain([
        swap({ sellAmountRaw: 600_000n, expectedRaw: 240_000n, minBuyAmountRaw: 238_800n }),
        swap({ sellAmountRaw: 400_000n, expectedRaw: 160_000n, minBuyAmountRaw: 159_200n })
      ])
    ])
    assert.deepStrictEqual(planChanges(previewed, halves), [])
    assert.deepStrictEqual(planChanges(halves, previewed), [])
    const [less] = planChanges(
      previewed,
      plan([
        chain([
          swap({ sellAmountRaw: 600_000n, expectedRaw: 240_000n, minBuyAmountRaw: 1n }),
          swap({ sellAmountRaw: 300_000n, expectedRaw: 120_000n, minBuyAmountRaw: 1n })
        ])
      ])
    )
    assert.match(less!, /would sell 900000, and 1000000 in the preview$/)
  })

  it("names an amount that moved by more than the slippage, and a price below the minimum", () => {
    const [amount, ...others] = planChanges(
      previewed,
      plan([chain([swap({ sellAmountRaw: 1_005_001n, expectedRaw: 500_000n, minBuyAmountRaw: 1n })])])
    )
    assert.deepStrictEqual(others, [])
    assert.match(amount!, /^chain 8453: .* would sell 1005001, and 1000000 in the preview$/)
    const [price] = planChanges(
      previewed,
      plan([chain([swap({ sellAmountRaw: 1_000_000n, expectedRaw: 397_999n, minBuyAmountRaw: 1n })])])
    )
    assert.match(price!, /would yield 397999 for 1000000: less than the minimum of the preview/)
  })

  it("names pairs that are new or gone, an outcome, and a strategy that has another version", () => {
    const other = plan(
      [chain([swap({ sellAmountRaw: 1_000_000n, expectedRaw: 1n, minBuyAmountRaw: 1n }, baseBtc.assetId)])],
      2
    )
    assert.deepStrictEqual(
      planChanges(previewed, other).map((text) => text.replaceAll(/eip155:\S+/gu, "it")),
      [
        "the strategy is at version 2, and was at 1 in the preview",
        "chain 8453: it for it would not be made now",
        "chain 8453: it for it was not in the preview"
      ]
    )
    const unsigned = plan([chain([], { outcome: "signature_required", reason: "the permission ran out" })])
    assert.deepStrictEqual(planChanges(plan([chain([])]), unsigned), [
      "chain 8453: the outcome would be signature_required, and nothing in the preview"
    ])
  })

  it("holds whoever agreed to the previewed price: what passes never pays less for a unit than the minimum did", () => {
    const amount = fc.bigInt({ min: 1n, max: 10n ** 24n })
    fc.assert(
      fc.property(fc.tuple(amount, amount, amount, amount), ([sold, minimum, soldNow, expectedNow]) => {
        const before = plan([chain([swap({ sellAmountRaw: sold, expectedRaw: minimum, minBuyAmountRaw: minimum })])])
        const changes = planChanges(
          before,
          plan([chain([swap({ sellAmountRaw: soldNow, expectedRaw: expectedNow, minBuyAmountRaw: 1n })])])
        )
        // The oracle divides, with 30 more digits than the amounts have.
        const wad = 10n ** 54n
        const [priceNow, minOutPrice] = [(expectedNow * wad) / soldNow, (minimum * wad) / sold]
        if (changes.length === 0) assert.isTrue(priceNow >= minOutPrice - 1n)
        else assert.isTrue(priceNow <= minOutPrice + 1n || soldNow !== sold)
      })
    )
  })
})
