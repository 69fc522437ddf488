/**
 * $500,000 in one asset go into five pools of $10 million, with the arithmetic of Uniswap v2: slices over several runs.
 */
import { assert, describe, it } from "@effect/vitest"
import { type ChainId, erc20, type EvmAddress } from "#domain/values/Caip.ts"
import * as Decimal from "#domain/values/Decimal.ts"
import { plan } from "#domain/planning/planRebalance.ts"
import type { PricingLimits } from "#domain/trading/priceLegs.ts"
import { isSoldAt, partOf, priceSale, quoteRequests, slicedSkip } from "#domain/trading/priceSale.ts"
import { type Pool, quoteBatch } from "#layers/evm/venue/quoteBatch.ts"
import { addressOf } from "#layers/evm/address.ts"

const chainId = 8453 as ChainId
const assetIds = Array.from({ length: 6 }, (_, index) =>
  erc20(chainId, `0x${(index + 1).toString(16).padStart(40, "0")}` as EvmAddress)
)
const [dollar, ...coins] = assetIds as [(typeof assetIds)[number], ...typeof assetIds]
const scale = 10n ** 18n
const reserveRaw = 5_000_000n * scale
const impactBps = 100
/** R i / (0.997 (1 - i)). */
const impactRaw = (reserveRaw * 100n * 1_000n) / (997n * 9_900n)

const pools: ReadonlyArray<Pool> = coins.map((coin) => ({
  tokens: [addressOf(dollar), addressOf(coin)],
  reserves: [reserveRaw, reserveRaw]
}))

interface Held {
  readonly balances: ReadonlyMap<string, bigint>
  readonly sold: NonNullable<PricingLimits["slicing"]>["sold"]
}

/** One run with the pools at the market's price; everything is worth a dollar. */
const run = ({ balances, sold }: Held, poolShareBps: number) => {
  const limits: PricingLimits = {
    slippageBps: 50,
    priceImpactBps: impactBps,
    slicing: { poolShareBps, minUsd: Decimal.one, sold }
  }
  const { legs } = plan({
    chains: [
      {
        chainId,
        available: true,
        holdings: assetIds.map((assetId) => ({
          assetId,
          decimals: 18,
          balanceRaw: balances.get(assetId) ?? 0n,
          priceUsd: Decimal.one,
          priceIsStale: false,
          isBlocked: false,
          isAuthorized: true
        }))
      }
    ],
    allocation: assetIds.map((assetId, index) => ({ assetId, weight: index === 0 ? 2_000 : 1_600 })),
    preferences: { thresholdUsd: 5n * Decimal.one },
    feeBps: 30
  }).chains[0]!
  const sales = quoteRequests(chainId, legs, limits).map((request) => ({
    ...request,
    sell: addressOf(request.sell),
    buy: addressOf(request.buy)
  }))
  const isMade = isSoldAt(legs, limits)
  const quotes = quoteBatch({ pools, connectorTokens: [addressOf(dollar)], sales, isMade })
  const next = new Map(balances)
  const made = legs.flatMap((leg, index) => {
    const quote = quotes[index]!
    const verdict = priceSale(leg, quote, limits)
    if ("code" in verdict) {
      assert.strictEqual(verdict.code, "SLICED")
      return []
    }
    const part = partOf(leg, quote.sellAmountRaw)
    next.set(leg.sell, next.get(leg.sell)! - part.sellAmountRaw)
    next.set(leg.buy, (next.get(leg.buy) ?? 0n) + quote.buyAmountRaw)
    return [{ leg, part, quote, skip: slicedSkip(leg, part.sellAmountRaw, limits) }]
  })
  return { legs, made, balances: next }
}

const start = (): Held => ({ balances: new Map([[dollar, 500_000n * scale]]), sold: [] })

describe("slicing over several runs", () => {
  it("trades what the impact limit allows at once, and the rest in the next run", () => {
    const first = run(start(), 5_000)
    assert.strictEqual(first.made.length, 5)
    for (const { leg, part, quote, skip } of first.made) {
      assert.isAtMost(quote.priceImpactBps, impactBps)
      assert.isTrue(part.sellAmountRaw <= impactRaw && part.sellAmountRaw * 1_000n > impactRaw * 999n)
      assert.isTrue(part.sellAmountRaw < leg.sellAmountRaw)
      assert.strictEqual(skip?.code, "SLICED")
      assert.strictEqual(skip?.valueUsd, leg.valueUsd - part.valueUsd)
    }
    const second = run({ balances: first.balances, sold: [] }, 5_000)
    assert.strictEqual(second.made.length, 5)
    for (const { leg, part } of second.made) assert.strictEqual(part, leg)
    // A plan without a policy takes purchases to cost the fee alone: what the impact took of them is made up for.
    const third = run({ balances: second.balances, sold: [] }, 5_000)
    for (const { valueUsd } of third.legs) assert.isTrue(valueUsd < 1_000n * Decimal.one)
    assert.deepStrictEqual(run({ balances: third.balances, sold: [] }, 5_000).legs, [])
  })

  it("sells no more into a pool in a day than its share, however often it runs, and the next day goes on", () => {
    const poolShareBps = 50
    const dayRaw = (reserveRaw * BigInt(poolShareBps)) / 10_000n
    let held = start()
    let days = 0
    for (; days < 10; days += 1) {
      const sold = new Map<string, bigint>()
      for (let runs = 0; runs < 4; runs += 1) {
        const { balances, made } = run(held, poolShareBps)
        for (const { part } of made) sold.set(part.buy, (sold.get(part.buy) ?? 0n) + part.sellAmountRaw)
        held = { balances, sold: coins.map((buy) => ({ sell: dollar, buy, raw: sold.get(buy) ?? 0n })) }
      }
      for (const raw of sold.values()) assert.isTrue(raw <= dayRaw)
      if (sold.size === 0) break
      held = { ...held, sold: [] }
    }
    // $80,000 of each, $25,000 a day.
    assert.strictEqual(days, 4)
    assert.deepStrictEqual(run(held, 5_000).legs, [])
  })
})
