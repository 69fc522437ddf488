import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import * as Amount from "#domain/values/Amount.ts"
import type { AssetId, EvmAccountId } from "#domain/values/Caip.ts"
import * as Decimal from "#domain/values/Decimal.ts"
import type { HeldAsset } from "#domain/performance/Valuation.ts"
import { type ValuationTask, valuePortfolio } from "#domain/performance/valuePortfolio.ts"
import { baseBtc, baseUsdc, baseWeth, catalogue } from "#test/support/assets.ts"

const account = "eip155:8453:0x52908400098527886E0F7030069857D2E4169EE7" as EvmAccountId
const other = "eip155:42161:0x52908400098527886E0F7030069857D2E4169EE7" as EvmAccountId
const [usdc, weth, btc] = [baseUsdc.assetId, baseWeth.assetId, baseBtc.assetId]
const dollars = (n: number) => BigInt(n) * Decimal.one
const usdcRaw = (n: number) => BigInt(n) * 10n ** 6n
const wethRaw = (n: number) => BigInt(n) * 10n ** 18n

type Amounts = ReadonlyArray<readonly [AssetId, bigint]>
type Prices = ReadonlyArray<readonly [AssetId, bigint]>

interface Case {
  /** None when the account was never valued. */
  readonly before?: { readonly held: Amounts; readonly prices: Prices }
  readonly now: ReadonlyArray<readonly [AssetId, bigint | null]>
  readonly prices: Prices
  readonly traded?: Amounts
  /** Assets whose last price is too old. */
  readonly lapsed?: ReadonlyArray<AssetId>
}

const held = (amounts: Amounts, prices: Prices): ReadonlyArray<HeldAsset> =>
  amounts.map(([assetId, raw]) => ({
    assetId,
    raw,
    priceUsd: new Map(prices).get(assetId)!,
    decimals: catalogue.get(assetId)!.decimals
  }))

const taskOf = ({ before, lapsed = [], now, prices, traded }: Case): ValuationTask => ({
  before: new Map(
    before === undefined
      ? []
      : [[account, { accountId: account, blockNumber: 1n, holdings: held(before.held, before.prices) }]]
  ),
  now: [{ accountId: account, blockNumber: 2n, balances: new Map(now) }],
  traded: new Map(traded === undefined ? [] : [[account, new Map(traded)]]),
  outgoing: [],
  catalogue,
  prices: new Map(prices),
  lapsed: new Set(lapsed)
})

/** Value, cash flow and growth; growth in basis points. */
const shown = (given: Case) => {
  const valuation = valuePortfolio(taskOf(given))
  if (valuation === null) return null
  const { cashFlowUsd, growth, valueUsd } = valuation
  return [valueUsd, cashFlowUsd, growth === null ? null : Number((growth * 10_000n) / Decimal.one)]
}

const prices: Prices = [
  [usdc, dollars(1)],
  [weth, dollars(2000)]
]

const both: Amounts = [
  [usdc, usdcRaw(10)],
  [weth, wethRaw(1)]
]

describe("valuePortfolio", () => {
  it.each<readonly [string, Case, ReturnType<typeof shown>]>([
    ["the first valuation: all of it came in", { now: [[usdc, usdcRaw(5)]], prices }, [dollars(5), dollars(5), null]],
    ["nothing held, ever", { now: [[usdc, 0n]], prices }, [0n, 0n, null]],
    [
      "a price moved: a gain, no cash",
      { before: { held: [[weth, wethRaw(1)]], prices }, now: [[weth, wethRaw(1)]], prices: [[weth, dollars(2200)]] },
      [dollars(2200), 0n, 11_000]
    ],
    [
      "a deposit: cash, no gain",
      { before: { held: [[usdc, usdcRaw(10)]], prices }, now: [[usdc, usdcRaw(15)]], prices },
      [dollars(15), dollars(5), 10_000]
    ],
    [
      "a withdrawal of another asset while the price rises",
      {
        before: {
          held: [
            [usdc, usdcRaw(1000)],
            [weth, wethRaw(1)]
          ],
          prices
        },
        now: [
          [usdc, 0n],
          [weth, wethRaw(1)]
        ],
        prices: [
          [usdc, dollars(1)],
          [weth, dollars(2300)]
        ]
      },
      [dollars(2300), dollars(-1000), 11_000]
    ],
    [
      "a trade at a loss: the loss is a loss",
      {
        before: { held: [[usdc, usdcRaw(2000)]], prices },
        now: [
          [usdc, 0n],
          [weth, wethRaw(1) / 2n]
        ],
        traded: [
          [usdc, -usdcRaw(2000)],
          [weth, wethRaw(1) / 2n]
        ],
        prices
      },
      [dollars(1000), 0n, 5_000]
    ],
    [
      "a trade and a deposit in one span",
      {
        before: { held: [[usdc, usdcRaw(2000)]], prices },
        now: [both[1]!, [usdc, usdcRaw(300)]],
        traded: [
          [usdc, -usdcRaw(2000)],
          [weth, wethRaw(1)]
        ],
        prices
      },
      [dollars(2300), dollars(300), 10_000]
    ],
    [
      "everything withdrawn",
      { before: { held: [[usdc, usdcRaw(10)]], prices }, now: [[usdc, 0n]], prices },
      [0n, dollars(-10), 10_000]
    ],
    [
      "funded again after nothing",
      { before: { held: [], prices }, now: [[usdc, usdcRaw(10)]], prices },
      [dollars(10), dollars(10), null]
    ],
    [
      "an asset that gets a price enters like a deposit",
      {
        before: { held: [[usdc, usdcRaw(10)]], prices },
        now: [
          [usdc, usdcRaw(10)],
          [btc, 10n ** 8n]
        ],
        prices: [...prices, [btc, dollars(60_000)]]
      },
      [dollars(60_010), dollars(60_000), 10_000]
    ],
    [
      "what is held and has no price any more neither left nor lost its worth: no valuation",
      {
        before: { held: both, prices },
        now: both,
        prices: [[usdc, dollars(1)]]
      },
      null
    ],
    [
      "an asset without a price that left, left at its last",
      {
        before: { held: both, prices },
        now: [
          [usdc, usdcRaw(10)],
          [weth, 0n]
        ],
        prices: [[usdc, dollars(1)]],
        lapsed: [weth]
      },
      [dollars(10), dollars(-2000), 10_000]
    ],
    [
      "a first valuation, with a price that is too old",
      { now: both, prices: prices.slice(0, 1), lapsed: [weth] },
      null
    ],
    [
      "something was bought since whose price is too old",
      {
        before: { held: [[usdc, usdcRaw(2000)]], prices },
        now: [[weth, wethRaw(1)]],
        prices: [[usdc, dollars(1)]],
        traded: [
          [usdc, -usdcRaw(2000)],
          [weth, wethRaw(1)]
        ],
        lapsed: [weth]
      },
      null
    ],
    [
      "what came in while its price is too old waits for one, and stops nothing",
      {
        before: { held: [both[0]!], prices },
        now: both,
        prices: [[usdc, dollars(1)]],
        lapsed: [weth]
      },
      [dollars(10), 0n, 10_000]
    ],
    ["an asset without a price is not counted", { now: [[btc, 5n]], prices: [] }, [0n, 0n, null]],
    [
      "the balance of something that was held is unknown",
      { before: { held: [[usdc, usdcRaw(10)]], prices }, now: [[usdc, null]], prices },
      null
    ],
    [
      "a token that was not held does not answer",
      {
        before: { held: [[usdc, usdcRaw(10)]], prices },
        now: [
          [usdc, usdcRaw(10)],
          [btc, null]
        ],
        prices
      },
      [dollars(10), 0n, 10_000]
    ]
  ])("%s", (_, given, expected) => assert.deepStrictEqual(shown(given), expected))

  it("an account that was not valued before brings its value in, and the others grow as they did", () => {
    const task = taskOf({
      before: { held: [[weth, wethRaw(1)]], prices },
      now: [[weth, wethRaw(1)]],
      prices: [
        [weth, dollars(1000)],
        [usdc, dollars(1)]
      ]
    })
    const more = { accountId: other, blockNumber: 7n, balances: new Map([[usdc, usdcRaw(50)]]) }
    const valuation = valuePortfolio({ ...task, now: [...task.now, more] })!
    assert.strictEqual(valuation.valueUsd, dollars(1050))
    assert.strictEqual(valuation.cashFlowUsd, dollars(50))
    assert.strictEqual(valuation.growth, Decimal.one / 2n)
    assert.deepStrictEqual(valuation.accounts[1], {
      accountId: other,
      blockNumber: 7n,
      holdings: [{ assetId: usdc, raw: usdcRaw(50), priceUsd: dollars(1), decimals: 6 }]
    })
  })
})

describe("a growth that cannot be determined", () => {
  /** Half of 10,000 dollars that came in was swapped for ether at 0.3 percent, which rose since. */
  const traded: Amounts = [
    [usdc, -usdcRaw(5000)],
    [weth, (wethRaw(5000) * 997n) / 2_000_000n]
  ]
  const swapped = (before: number, etherUsd: number, changes: Partial<Case> = {}) =>
    valuePortfolio(
      taskOf({
        before: { held: [[usdc, usdcRaw(before)]], prices },
        now: [
          [usdc, usdcRaw(before + 5000)],
          [weth, traded[1]![1]]
        ],
        prices: [
          [usdc, dollars(1)],
          [weth, dollars(etherUsd)]
        ],
        traded,
        ...changes
      })
    )!

  it.each([
    [10, 2000],
    [100, 2040]
  ])(
    "%s dollars, then 10,000 that are half swapped before a valuation: is not linked, and the flow is right",
    (n, usd) => {
      const { cashFlowUsd, growth, isRebased } = swapped(n, usd)
      assert.deepStrictEqual([growth, isRebased, cashFlowUsd], [null, true, dollars(10_000)])
    }
  )

  it.each([
    [10, 2000, "0.998501"],
    [100, 2040, "1.008386"]
  ])("%s dollars, then 10,000 that were valued before they were swapped: grew as all of it did", (n, usd, expected) => {
    const all: Amounts = [[usdc, usdcRaw(n + 10_000)]]
    const { cashFlowUsd, growth, isRebased } = swapped(n, usd, { before: { held: all, prices } })
    assert.deepStrictEqual([Decimal.format(growth!, 6), isRebased, cashFlowUsd], [expected, false, 0n])
  })

  it("some units more were sold than were there, as of tokens that grow: it is linked", () => {
    const { growth, isRebased } = swapped(0, 2000, { before: { held: [[usdc, usdcRaw(5000) - 400_000n]], prices } })
    assert.deepStrictEqual([Decimal.format(growth!, 6), isRebased], ["0.997000", false])
  })

  it("something was bought that has no price: it is not linked", () => {
    const { growth, isRebased } = swapped(0, 2000, {
      before: { held: [[usdc, usdcRaw(5000)]], prices },
      prices: [[usdc, dollars(1)]]
    })
    assert.deepStrictEqual([growth, isRebased], [null, true])
  })

  it("all was lost: that is one, and what comes in after begins anew", () => {
    const lost = {
      before: { held: [[usdc, usdcRaw(5000)]] as Amounts, prices },
      traded: [[usdc, -usdcRaw(5000)]] as Amounts
    }
    const empty = swapped(0, 2000, { ...lost, now: [[usdc, 0n]] })
    assert.deepStrictEqual([empty.growth, empty.isRebased], [0n, false])
    const again = swapped(0, 2000, { ...lost, now: [[usdc, usdcRaw(7)]] })
    assert.deepStrictEqual([again.growth, again.isRebased, again.cashFlowUsd], [null, true, dollars(7)])
  })
})

/** Millionth of a dollar: what is worth less has no growth. */
const millionth = Decimal.one / 1_000_000n
const raw = fc.bigInt({ min: 0n, max: 10n ** 30n })
const price = fc.bigInt({ min: 1n, max: 10n ** 24n })

describe("valuePortfolio, any numbers", () => {
  it("without trades and cash all change is growth", () => {
    fc.assert(
      fc.property(fc.tuple(raw, raw, price, price, price), ([x, y, p0, p1, q1]) => {
        const amounts: Amounts = [
          [usdc, x],
          [weth, y]
        ]
        const before = [
          [usdc, p0],
          [weth, p0]
        ] as const
        const now = [
          [usdc, p1],
          [weth, q1]
        ] as const
        const valuation = valuePortfolio(
          taskOf({ before: { held: amounts, prices: before }, now: amounts, prices: now })
        )!
        assert.strictEqual(valuation.cashFlowUsd, 0n)
        const valueBefore = held(amounts, before).reduce(
          (sum, { decimals, priceUsd, raw: amount }) => sum + Amount.valueUsd(amount, decimals, priceUsd),
          0n
        )
        const growth = valueBefore < millionth ? null : (valuation.valueUsd * Decimal.one) / valueBefore
        // Growth that is less than its last place can show is not linked: the index never reaches zero while value is
        // left.
        assert.strictEqual(valuation.growth, growth === 0n && valuation.valueUsd > 0n ? null : growth)
      })
    )
  })

  it("with still prices and no trades nothing grows, whatever comes and goes", () => {
    fc.assert(
      fc.property(raw, raw, price, (x, y, p) => {
        const valuation = valuePortfolio(
          taskOf({ before: { held: [[usdc, x]], prices: [[usdc, p]] }, now: [[usdc, y]], prices: [[usdc, p]] })
        )!
        assert.strictEqual(valuation.cashFlowUsd, Amount.valueUsd(y, 6, p) - Amount.valueUsd(x, 6, p))
        if (valuation.growth !== null) assert.strictEqual(valuation.growth, Decimal.one)
      })
    )
  })

  it("a trade is never cash, whatever it cost", () => {
    fc.assert(
      fc.property(fc.tuple(raw, raw, raw, price, price), ([x, sold, bought, p, q]) => {
        const sell = sold > x ? x : sold
        const valuation = valuePortfolio(
          taskOf({
            before: {
              held: [[usdc, x]],
              prices: [
                [usdc, p],
                [weth, q]
              ]
            },
            now: [
              [usdc, x - sell],
              [weth, bought]
            ],
            traded: [
              [usdc, -sell],
              [weth, bought]
            ],
            prices: [
              [usdc, p],
              [weth, q]
            ]
          })
        )!
        assert.strictEqual(valuation.cashFlowUsd, 0n)
      })
    )
  })
})
