import { assert, describe, it } from "@effect/vitest"
import { addressOf } from "#domain/values/Caip.ts"
import * as Decimal from "#domain/values/Decimal.ts"
import type { PlannedChain } from "#domain/planning/PlannedChain.ts"
import { resultOfRun } from "#domain/rebalance/resultOfRun.ts"
import type { ChainOutcome } from "#domain/rebalance/RunReport.ts"
import { baseBtc, baseUsdc, baseWeth } from "#test/support/assets.ts"

const [usdc, weth, btc] = [baseUsdc, baseWeth, baseBtc].map(({ assetId }) => assetId) as [
  typeof baseUsdc.assetId,
  typeof baseWeth.assetId,
  typeof baseBtc.assetId
]

const swap = (sellAmountRaw: bigint, minBuyAmountRaw: bigint, assets: ReadonlyArray<typeof usdc>) => ({
  sell: assets[0]!,
  buy: assets.at(-1)!,
  sellAmountRaw,
  minBuyAmountRaw,
  execution: { _tag: "Evm", path: assets.map(addressOf) } as const
})

const outcomeOf = (swaps: ChainOutcome["swaps"], bought: bigint): ChainOutcome => ({
  chainId: baseUsdc.chainId,
  swaps,
  skips: [],
  receipt: {
    success: true,
    deltas: [
      { assetId: usdc, raw: -1_000_000n },
      { assetId: btc, raw: bought }
    ]
  } as unknown as ChainOutcome["receipt"],
  failure: null
})

const planned: PlannedChain = {
  chainId: baseUsdc.chainId,
  legs: [
    { sell: usdc, buy: btc, sellAmountRaw: 1_000_000n, valueUsd: Decimal.one, expectedBuyRaw: 997n },
    { sell: weth, buy: btc, sellAmountRaw: 10n, valueUsd: Decimal.one, expectedBuyRaw: 997n }
  ],
  skips: []
}

const swapsOf = (outcome: ChainOutcome) =>
  resultOfRun({ plan: { chains: [planned] }, outcomes: [outcome], transactions: [[]], assumedFeeBps: () => 30 }).result
    .chains[0]!.swaps

describe("resultOfRun", () => {
  it("reports a trade over several paths as one swap, with what both sold, kept and brought", () => {
    const both = [
      { ...swap(600_000n, 590n, [usdc, btc]), feeRaw: 1_800n },
      { ...swap(400_000n, 390n, [usdc, weth, btc]), feeRaw: 2_397n }
    ]
    assert.deepStrictEqual(swapsOf(outcomeOf(both, 990n)), [
      {
        sell: usdc,
        buy: btc,
        soldRaw: 1_000_000n,
        minOutRaw: 980n,
        receivedRaw: 990n,
        feeRaw: 1_800n + 2_397n,
        by: "venue"
      }
    ])
  })

  it("says who made a swap and what it kept, as the quote did", () => {
    const quoted = { ...swap(1_000_000n, 590n, [usdc, weth, btc]), feeRaw: null, venue: "jupiter" }
    const [result] = swapsOf(outcomeOf([quoted], 990n))
    assert.deepInclude(result, { feeRaw: null, by: "jupiter" })
    const [exact] = swapsOf(outcomeOf([{ ...quoted, feeRaw: 12n }], 990n))
    assert.strictEqual(exact!.feeRaw, 12n)
  })

  it("weighs what a chain brought by the fee that was counted on it", () => {
    const outcome = outcomeOf([swap(1_000_000n, 590n, [usdc, btc])], 997n)
    const facts = { plan: { chains: [planned] }, outcomes: [outcome], transactions: [[]] }
    const tradingUsd = (fee: number) => resultOfRun({ ...facts, assumedFeeBps: () => fee }).result.tradingUsd!
    assert.strictEqual(tradingUsd(30), (Decimal.one * 3n) / 1_000n)
    assert.strictEqual(tradingUsd(0), 0n)
  })

  it("does not know what each of two pairs brought that buy the same asset", () => {
    const two = [swap(1_000_000n, 590n, [usdc, btc]), swap(10n, 390n, [weth, btc])]
    assert.deepStrictEqual(
      swapsOf(outcomeOf(two, 990n)).map(({ receivedRaw, sell }) => [sell, receivedRaw]),
      [
        [usdc, null],
        [weth, null]
      ]
    )
  })
})
