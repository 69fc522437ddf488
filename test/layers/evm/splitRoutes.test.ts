/** Sales over several paths against an oracle that tries divisions one after the other, in Uniswap v2's arithmetic. */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import type { Address, EvmAddress } from "#domain/values/Caip.ts"
import type { LossLimits, SaleLimits } from "#domain/trading/Venue.ts"
import { evmExecution } from "#layers/evm/address.ts"
import { type Pool, quoteBatch } from "#layers/evm/venue/quoteBatch.ts"

const [A, B, H, J] = ["0xA", "0xB", "0xH", "0xJ"].map((text) => text as EvmAddress) as [
  EvmAddress,
  EvmAddress,
  EvmAddress,
  EvmAddress
]
const paths = [
  [A, B],
  [A, H, B],
  [A, J, B]
] as const

const pairs = [
  [A, B],
  [A, H],
  [H, B],
  [A, J],
  [J, B]
] as const

/** Pools of comparable depth whose prices differ by some percent: there dividing is worth something. */
const market = fc
  .array(fc.tuple(fc.bigInt({ min: 10n ** 20n, max: 10n ** 22n }), fc.integer({ min: 95, max: 105 })), {
    minLength: 5,
    maxLength: 5
  })
  .map((drawn) =>
    pairs.map((tokens, index): Pool => {
      const [reserve, price] = drawn[index]!
      return { tokens, reserves: [reserve, (reserve * BigInt(price)) / 100n] }
    })
  )
const amount = fc.bigInt({ min: 10n ** 17n, max: 10n ** 22n })
const free: LossLimits = { priceImpactBps: 10_000, minRaw: () => 0n }

/** What the contracts pay over a path, one pool after the other. */
const paidOver = (pools: ReadonlyArray<Pool>, path: ReadonlyArray<Address>, soldRaw: bigint): bigint => {
  let held = soldRaw
  for (const [hop, sell] of path.slice(0, -1).entries()) {
    const { reserves, tokens } = pools.find((pool) =>
      [sell, path[hop + 1]!].every((token) => pool.tokens.some((one) => one === token))
    )!
    const [reserveIn, reserveOut] = tokens[0] === sell ? reserves : [reserves[1], reserves[0]]
    held = (held * 997n * reserveOut) / (reserveIn * 1_000n + held * 997n)
  }
  return held
}

const steps = 60n

/** The most that divisions in sixtieths pay, over at most so many paths. */
const oracle = (pools: ReadonlyArray<Pool>, soldRaw: bigint, most: number): bigint => {
  let best = 0n
  const part = (step: bigint) => (soldRaw * step) / steps
  for (let first = 0n; first <= steps; first += 1n) {
    for (let second = 0n; first + second <= steps; second += 1n) {
      const parts = [part(first), part(second), 0n]
      parts[2] = soldRaw - parts[0]! - parts[1]!
      if (parts.filter((raw) => raw > 0n).length > most) continue
      const paid = parts.reduce((sum, raw, at) => sum + (raw === 0n ? 0n : paidOver(pools, paths[at]!, raw)), 0n)
      if (paid > best) best = paid
    }
  }
  return best
}

const quoted = (
  pools: ReadonlyArray<Pool>,
  { gainRaw, sellAmountRaw }: { readonly sellAmountRaw: bigint; readonly gainRaw: bigint },
  within = free
) =>
  quoteBatch({
    pools,
    connectorTokens: [H, J],
    sales: [{ sell: A, buy: B, sellAmountRaw, split: { gainRaw, within } }]
  })[0]!

/** What a unit of rounding in each pool may cost. */
const rounding = 10n

describe("a sale over several paths", () => {
  it("pays no less than any division that an oracle tries, and what it says is what the contracts pay", () =>
    fc.assert(
      fc.property(market, amount, (pools, soldRaw) => {
        const quote = quoted(pools, { sellAmountRaw: soldRaw, gainRaw: 0n })
        const made = quote.paths ?? [{ ...quote, sellAmountRaw: soldRaw }]
        assert.strictEqual(
          made.reduce((sum, { sellAmountRaw }) => sum + sellAmountRaw, 0n),
          soldRaw
        )
        let paid = 0n
        for (const one of made) {
          assert.strictEqual(paidOver(pools, evmExecution(one).path, one.sellAmountRaw), one.buyAmountRaw)
          paid += one.buyAmountRaw
        }
        assert.strictEqual(quote.buyAmountRaw, paid)
        assert.isTrue(paid + rounding >= oracle(pools, soldRaw, 3), `${paid} ${oracle(pools, soldRaw, 3)}`)
      }),
      { numRuns: 80 }
    ))

  it("takes a further path only where that adds more than its gas, and then no division is better after gas", () =>
    fc.assert(
      fc.property(market, amount, fc.bigInt({ min: 1n, max: 10n ** 19n }), (pools, soldRaw, gainRaw) => {
        const quote = quoted(pools, { sellAmountRaw: soldRaw, gainRaw })
        const count = quote.paths?.length ?? 1
        const single = oracle(pools, soldRaw, 1)
        if (count > 1) assert.isTrue(quote.buyAmountRaw - single > gainRaw * BigInt(count - 1))
        const net = quote.buyAmountRaw - gainRaw * BigInt(count - 1)
        // The third path is tried on top of the best two, so the oracle's best two and all three are the measure.
        for (const most of [1, 3] as const)
          assert.isTrue(net + rounding >= oracle(pools, soldRaw, most) - gainRaw * BigInt(most - 1))
      }),
      { numRuns: 80 }
    ))

  it("is one path where the gas of a second is more than it adds", () => {
    const depth = 10n ** 24n
    const pools = pairs.map((tokens): Pool => ({ tokens, reserves: [depth, depth] }))
    const soldRaw = 10n ** 22n
    assert.isDefined(quoted(pools, { sellAmountRaw: soldRaw, gainRaw: 0n }).paths)
    assert.isUndefined(quoted(pools, { sellAmountRaw: soldRaw, gainRaw: 10n ** 20n }).paths)
    assert.deepStrictEqual(evmExecution(quoted(pools, { sellAmountRaw: soldRaw, gainRaw: 10n ** 20n })).path, [A, B])
  })

  it("makes over two paths what one would move too far, each within the limits, and leaves its trace in all pools", () => {
    const depth = 10n ** 24n
    const pools = pairs.map((tokens): Pool => ({ tokens, reserves: [depth, depth] }))
    const soldRaw = 10n ** 22n
    const within: LossLimits = { priceImpactBps: 80, minRaw: () => 0n }
    const quote = quoted(pools, { sellAmountRaw: soldRaw, gainRaw: 10n ** 20n }, within)
    assert.isTrue(paidOver(pools, [A, B], soldRaw) < quote.buyAmountRaw)
    assert.isAtMost(quote.priceImpactBps, 80)
    assert.isAbove(quote.paths!.length, 1)
    const sale = { sell: A, buy: B, sellAmountRaw: soldRaw, split: { gainRaw: 0n, within: free } }
    const [first, second] = quoteBatch({ pools, connectorTokens: [H, J], sales: [sale, sale] })
    const together = quoted(pools, { sellAmountRaw: 2n * soldRaw, gainRaw: 0n })
    const sum = first!.buyAmountRaw + second!.buyAmountRaw
    assert.isTrue(sum <= together.buyAmountRaw + rounding && sum * 1_000n > together.buyAmountRaw * 999n)
  })

  it("is cut where the limits allow less over all paths together, and more than over the best one alone", () =>
    fc.assert(
      fc.property(
        market,
        fc.integer({ min: 10, max: 300 }),
        fc.integer({ min: 50, max: 1_000 }),
        (pools, bps, share) => {
          const soldRaw = 10n ** 24n
          const atMost: SaleLimits = { priceImpactBps: bps, minRaw: () => 0n, poolShareBps: share, sold: [] }
          const sale = { sell: A, buy: B, sellAmountRaw: soldRaw, atMost }
          const [one] = quoteBatch({ pools, connectorTokens: [H, J], sales: [sale] })
          const [several] = quoteBatch({
            pools,
            connectorTokens: [H, J],
            sales: [{ ...sale, split: { gainRaw: 0n, within: atMost } }]
          })
          assert.isTrue(several!.sellAmountRaw! > one!.sellAmountRaw!)
          for (const { execution, priceImpactBps } of several!.paths!) {
            assert.isAtMost(priceImpactBps, bps)
            const { inputsRaw, path } = evmExecution({ execution })
            for (const [hop, raw] of inputsRaw!.entries()) {
              const pool = pools.find(({ tokens }) =>
                [path[hop]!, path[hop + 1]!].every((token) => tokens.some((one) => one === token))
              )!
              const held = pool.reserves[pool.tokens[0] === path[hop] ? 0 : 1]
              assert.isTrue(raw * 10_000n <= held * BigInt(share))
            }
          }
        }
      ),
      { numRuns: 100 }
    ))
})

describe("the share of a pool", () => {
  it("is one for all sales of a batch, and the market then takes nothing more", () => {
    const depth = 10n ** 24n
    const pools: ReadonlyArray<Pool> = [
      { tokens: [A, H], reserves: [depth, depth] },
      { tokens: [H, B], reserves: [depth, depth] }
    ]
    const atMost: SaleLimits = { priceImpactBps: 9_000, minRaw: () => 0n, poolShareBps: 100, sold: [] }
    const [over, direct] = quoteBatch({
      pools,
      connectorTokens: [H],
      sales: [
        { sell: A, buy: B, sellAmountRaw: depth, atMost },
        { sell: A, buy: H, sellAmountRaw: depth, atMost }
      ]
    })
    // What goes through the first pool for B leaves nearly nothing of its share for H.
    assert.isTrue(over!.sellAmountRaw! * 10_000n > depth * 99n)
    const inPool = depth + over!.sellAmountRaw!
    assert.isTrue((over!.sellAmountRaw! + direct!.sellAmountRaw!) * 100n <= inPool)
    const sold = [{ sell: A, buy: H, raw: depth / 100n }]
    const [none] = quoteBatch({
      pools,
      connectorTokens: [H],
      sales: [{ sell: A, buy: B, sellAmountRaw: depth, atMost: { ...atMost, sold } }]
    })
    assert.deepStrictEqual(none, {
      buyAmountRaw: 0n,
      execution: { _tag: "Evm", path: [A, H, B] },
      priceImpactBps: 0,
      sellAmountRaw: 0n,
      feeRaw: 0n,
      furtherFeeBps: 30
    })
  })

  it("leaves a market alone that pays less than the feed allows", () => {
    const depth = 10n ** 24n
    const pools: ReadonlyArray<Pool> = [{ tokens: [A, B], reserves: [depth, depth] }]
    const sellAmountRaw = 10n ** 22n
    const at = (minRaw: bigint) => {
      const atMost: SaleLimits = {
        priceImpactBps: 9_000,
        poolShareBps: 5_000,
        sold: [],
        minRaw: (furtherFeeBps) => (furtherFeeBps === 0 ? minRaw : 0n)
      }
      return quoteBatch({ pools, connectorTokens: [], sales: [{ sell: A, buy: B, sellAmountRaw, atMost }] })[0]!
    }
    assert.isUndefined(at((sellAmountRaw * 98n) / 100n).sellAmountRaw)
    const part = at((sellAmountRaw * 993n) / 1_000n)
    assert.isTrue(part.sellAmountRaw! > 0n && part.sellAmountRaw! < sellAmountRaw)
    assert.isTrue(part.buyAmountRaw * 1_000n >= part.sellAmountRaw! * 993n)
    assert.strictEqual(at((sellAmountRaw * 999n) / 1_000n).sellAmountRaw, 0n)
  })
})
