import { assert, describe, it } from "@effect/vitest"
import { assumedExecution } from "#domain/trading/Swap.ts"
import * as Decimal from "#domain/values/Decimal.ts"
import { type ChainOutcome, isIncomplete, slicesOf } from "#domain/rebalance/RunReport.ts"
import type { RunPlan } from "#domain/rebalance/RunPlan.ts"
import { type RecordedSkip, SkipCode } from "#domain/values/Skip.ts"
import { arbUsdc, arbWeth, baseBtc, baseUsdc, baseWeth } from "#test/support/assets.ts"

const dollars = (usd: number) => BigInt(usd) * Decimal.one
const legOf = (buy = baseWeth, sell = baseUsdc) => ({
  sell: sell.assetId,
  buy: buy.assetId,
  sellAmountRaw: 1_000_000n,
  valueUsd: dollars(1_000),
  expectedBuyRaw: 500n
})
type Leg = ReturnType<typeof legOf>

const plan = (legs: ReadonlyArray<Leg>, sold = false): Pick<RunPlan, "limits" | "chains"> => ({
  limits: {
    slippageBps: 50,
    priceImpactBps: 100,
    slicing: { poolShareBps: 100, minUsd: Decimal.one, sold: sold ? [{ ...legOf(), raw: 1n }] : [] }
  },
  chains: [
    { chainId: baseUsdc.chainId, legs, skips: [] },
    { chainId: arbUsdc.chainId, legs: [legOf(arbWeth, arbUsdc)], skips: [] }
  ]
})

const sliced = ({ buy, sell }: Leg, usd: number): RecordedSkip => ({
  assetId: null,
  sell,
  buy,
  code: SkipCode.sliced,
  valueUsd: dollars(usd),
  reason: "the rest"
})

const swap = ({ buy, sell }: Leg, sellAmountRaw: bigint) => ({
  sell,
  buy,
  sellAmountRaw,
  minBuyAmountRaw: 1n,
  execution: assumedExecution({ sell, buy })
})

const outcome = (
  swaps: ChainOutcome["swaps"],
  skips: ChainOutcome["skips"],
  isMade: boolean | null = true
): ChainOutcome => ({
  chainId: baseUsdc.chainId,
  swaps,
  skips,
  receipt: isMade === null ? null : ({ success: isMade } as ChainOutcome["receipt"]),
  failure: null
})

describe("slicesOf", () => {
  it("counts how many more slices the slowest leg needs, over all of its paths", () => {
    const [weth, btc] = [legOf(), legOf(baseBtc)]
    const made = [swap(weth, 50_000n), swap(weth, 50_000n), swap(btc, 400_000n)]
    const chains = [outcome(made, [sliced(weth, 900), sliced(btc, 600)])]
    assert.isTrue(isIncomplete(chains))
    assert.deepStrictEqual(slicesOf(plan([weth, btc]), chains), { left: 9 })
    const some = [outcome([swap(weth, 300_000n)], [sliced(weth, 700)])]
    assert.deepStrictEqual(slicesOf(plan([weth]), some), { left: 3 })
  })

  it("counts none where the market took nothing now but did today, and has no count where it never did", () => {
    const leg = legOf()
    const chains = [outcome([], [sliced(leg, 1_000)], null)]
    assert.deepStrictEqual(slicesOf(plan([leg], true), chains), { left: 0 })
    assert.isUndefined(slicesOf(plan([leg]), chains))
    assert.isTrue(isIncomplete(chains))
    // What was reverted moved nothing.
    assert.isUndefined(slicesOf(plan([leg]), [outcome([swap(leg, 500_000n)], [sliced(leg, 500)], false)]))
  })

  it("leaves the pace to what else is missing, and has no count for a run that left nothing", () => {
    const leg = legOf()
    const made = outcome([swap(leg, 500_000n)], [sliced(leg, 500)])
    const away: RecordedSkip = { assetId: null, code: SkipCode.chainUnavailable, valueUsd: null, reason: "away" }
    assert.isUndefined(slicesOf(plan([leg]), [made, { ...outcome([], [away], null), chainId: arbUsdc.chainId }]))
    assert.isUndefined(slicesOf(plan([leg], true), [outcome([swap(leg, 1_000_000n)], [])]))
  })
})
