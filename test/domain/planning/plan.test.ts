import { assert, describe, it } from "@effect/vitest"
import * as Decimal from "#domain/values/Decimal.ts"
import { plan } from "#domain/planning/planRebalance.ts"
import { applyPlan } from "#test/domain/planning/applyPlan.ts"
import {
  base,
  chain,
  dai,
  held,
  input,
  mainnet,
  mainnetDai,
  mainnetUsdc,
  onlyChain,
  planOne,
  skipped,
  spare,
  trades,
  usd,
  usdc,
  wbtc,
  weth
} from "#test/domain/planning/examples.ts"

describe("plan: targets", () => {
  it("moves the excess of one asset into the gap of the other", () => {
    const planned = planOne(
      [held(usdc, 100), held(weth, 0)],
      [
        [usdc, 60],
        [weth, 40]
      ]
    )
    assert.deepStrictEqual(trades(planned.legs), [[usdc, weth, "40.00"]])
    assert.deepStrictEqual(planned.legs[0], {
      chainId: base,
      sell: usdc,
      buy: weth,
      sellAmountRaw: 40_000_000n,
      valueUsd: usd("40"),
      expectedBuyRaw: 40_000_000n
    })
    assert.isEmpty(planned.skips)
    assert.deepStrictEqual(planned.targets, [
      { assetId: usdc, weight: 6_000, valueUsd: usd("100"), targetUsd: usd("60") },
      { assetId: weth, weight: 4_000, valueUsd: 0n, targetUsd: usd("40") }
    ])
  })

  it("counts in the raw units of each token", () => {
    const ether = { decimals: 18, priceUsd: usd("2500"), balanceRaw: 0n }
    const bitcoin = { decimals: 8, priceUsd: usd("100000"), balanceRaw: 1_000_000n }
    const { legs } = planOne(
      [held(weth, 0, ether), held(wbtc, 0, bitcoin)],
      [
        [weth, 50],
        [wbtc, 50]
      ]
    )
    assert.deepStrictEqual(
      legs.map(({ expectedBuyRaw, sellAmountRaw }) => [sellAmountRaw, expectedBuyRaw]),
      [[500_000n, 200_000_000_000_000_000n]]
    )
  })

  it("does nothing on target", () => {
    const planned = planOne(
      [held(usdc, 60), held(weth, 40)],
      [
        [usdc, 60],
        [weth, 40]
      ]
    )
    assert.isEmpty(planned.legs)
    assert.isEmpty(planned.skips)
  })

  it("does nothing with an empty portfolio", () => {
    const planned = planOne(
      [held(usdc, 0), held(weth, 0)],
      [
        [usdc, 60],
        [weth, 40]
      ]
    )
    assert.isEmpty(planned.legs)
    assert.isEmpty(planned.skips)
  })

  it("sells what is not in the allocation to the last unit", () => {
    const odd = { balanceRaw: 33_333_333n, priceUsd: usd("0.999999999999999999") }
    const { legs } = planOne([held(dai, 0, odd), held(usdc, 50)], [[usdc, 100]])
    assert.deepStrictEqual(
      legs.map((leg) => [leg.sell, leg.buy, leg.sellAmountRaw]),
      [[dai, usdc, 33_333_333n]]
    )
  })

  it("sells it whole into two buyers too", () => {
    const { legs } = planOne(
      [held(dai, 100), held(usdc, 0), held(weth, 0)],
      [
        [usdc, 70],
        [weth, 30]
      ],
      { feeBps: 30 }
    )
    assert.strictEqual(
      legs.reduce((sum, leg) => sum + leg.sellAmountRaw, 0n),
      100_000_000n
    )
    assert.deepStrictEqual(trades(legs), [
      [dai, usdc, "70.00"],
      [dai, weth, "30.00"]
    ])
  })

  it("expects of a swap what is left after the fee of its chain", () => {
    const chains = [
      { ...chain([held(dai, 100), held(usdc, 0)]), feeBps: 100 },
      chain([held(mainnetUsdc, 100), held(mainnetDai, 0)], mainnet)
    ]
    const planned = plan(
      input(
        chains,
        [
          [usdc, 50],
          [mainnetDai, 50]
        ],
        { feeBps: 30 }
      )
    )
    assert.deepStrictEqual(
      planned.chains.flatMap(({ legs }) => legs.map(({ expectedBuyRaw }) => expectedBuyRaw)),
      [99_000_000n, 99_700_000n]
    )
  })

  it("exchanges equal amounts first and so saves a leg", () => {
    // Excess: usdc 20, weth 14. Gaps: wbtc 14, dai 12, spare 8. Largest first alone would take four legs.
    const { legs } = planOne(
      [held(usdc, 40), held(weth, 34), held(wbtc, 6), held(dai, 8), held(spare, 12)],
      [
        [usdc, 20],
        [weth, 20],
        [wbtc, 20],
        [dai, 20],
        [spare, 20]
      ],
      { threshold: "1" }
    )
    assert.deepStrictEqual(trades(legs), [
      [weth, wbtc, "14.00"],
      [usdc, dai, "12.00"],
      [usdc, spare, "8.00"]
    ])
  })
})

describe("plan: costs", () => {
  it("shares what is left after the fee, exactly", () => {
    const start = input(
      [chain([held(usdc, 10_000), held(weth, 0)])],
      [
        [usdc, 50],
        [weth, 50]
      ],
      { feeBps: 100 }
    )
    const { legs, targets } = onlyChain(plan(start))
    // T = 10,000 - 1 % of (10,000 - T / 2): T = 9,900 / 0.995.
    assert.strictEqual(Decimal.format(targets[0]!.targetUsd!, 4), "4974.8743")
    assert.strictEqual(Decimal.format(targets[1]!.targetUsd!, 4), "4974.8743")
    assert.deepStrictEqual(trades(legs), [[usdc, weth, "5025.12"]])
    const after = onlyChain(plan(applyPlan(start, plan(start))))
    assert.isEmpty(after.legs)
    assert.isEmpty(after.skips)
  })
})

describe("plan: threshold", () => {
  it("leaves a deviation below it, and says so", () => {
    const planned = planOne(
      [held(usdc, 104), held(weth, 96)],
      [
        [usdc, 50],
        [weth, 50]
      ],
      { threshold: "5" }
    )
    assert.isEmpty(planned.legs)
    assert.deepStrictEqual(skipped(planned), [
      [usdc, "BELOW_MIN_TRADE", "4.00"],
      [weth, "BELOW_MIN_TRADE", "-4.00"]
    ])
  })

  it("trades a deviation that reaches it", () => {
    const { legs } = planOne(
      [held(usdc, 105), held(weth, 95)],
      [
        [usdc, 50],
        [weth, 50]
      ],
      { threshold: "5" }
    )
    assert.deepStrictEqual(trades(legs), [[usdc, weth, "5.00"]])
  })

  it("is silent about rounding dust", () => {
    const planned = planOne(
      [held(usdc, 0, { balanceRaw: 50_004_000n }), held(weth, 0, { balanceRaw: 49_996_000n })],
      [
        [usdc, 50],
        [weth, 50]
      ]
    )
    assert.isEmpty(planned.legs)
    assert.isEmpty(planned.skips)
  })

  it("leaves a holding outside the allocation that is worth less", () => {
    const planned = planOne([held(usdc, 100), held(dai, 3)], [[usdc, 100]])
    assert.isEmpty(planned.legs)
    assert.include(
      skipped(planned).map(([assetId, code]) => `${assetId} ${code}`),
      `${dai} BELOW_MIN_TRADE`
    )
  })

  it("settles the large ones and leaves the small ones within it", () => {
    const planned = planOne(
      [held(usdc, 60), held(weth, 16), held(wbtc, 24)],
      [
        [usdc, 40],
        [weth, 33],
        [wbtc, 27]
      ]
    )
    assert.deepStrictEqual(trades(planned.legs), [[usdc, weth, "17.00"]])
    assert.deepStrictEqual(skipped(planned), [
      [usdc, "BELOW_MIN_TRADE", "3.00"],
      [wbtc, "BELOW_MIN_TRADE", "-3.00"]
    ])
  })

  it("spreads one large excess over small gaps in least legs", () => {
    const planned = planOne(
      [held(usdc, 62), held(weth, 21), held(wbtc, 21), held(dai, 21)],
      [
        [usdc, 40],
        [weth, 20],
        [wbtc, 20],
        [dai, 20]
      ],
      { threshold: "5" }
    )
    assert.deepStrictEqual(
      planned.legs.map((leg) => [leg.sell, Decimal.format(leg.valueUsd, 2)]),
      [
        [usdc, "5.00"],
        [usdc, "5.00"]
      ]
    )
    for (const { valueUsd } of planned.skips) assert.isBelow(Math.abs(Number(valueUsd)), Number(usd("5")))
  })

  it("may be zero", () => {
    const { legs } = planOne(
      [held(usdc, 101), held(weth, 99)],
      [
        [usdc, 50],
        [weth, 50]
      ],
      { threshold: "0", feeBps: 30 }
    )
    assert.lengthOf(legs, 1)
  })
})

describe("plan: chains", () => {
  it("shares each chain's value by its own weights and reports what has to move", () => {
    const planned = plan(
      input(
        [chain([held(usdc, 100), held(weth, 0)]), chain([held(mainnetUsdc, 300)], mainnet)],
        [
          [usdc, 25],
          [weth, 25],
          [mainnetUsdc, 50]
        ]
      )
    )
    assert.deepStrictEqual(
      planned.chains.map(({ chainId, legs }) => [chainId, trades(legs)]),
      [
        [base, [[usdc, weth, "50.00"]]],
        [mainnet, []]
      ]
    )
    assert.deepStrictEqual(planned.chains.flatMap(skipped), [
      [null, "CROSS_CHAIN_PENDING", "-100.00"],
      [null, "CROSS_CHAIN_PENDING", "100.00"]
    ])
  })

  it("keeps what a chain without targets holds", () => {
    const planned = plan(input([chain([held(usdc, 100)]), chain([held(mainnetUsdc, 50)], mainnet)], [[usdc, 100]]))
    assert.isEmpty(planned.chains[1]!.legs)
    assert.deepStrictEqual(skipped(planned.chains[1]!), [[null, "CROSS_CHAIN_PENDING", "50.00"]])
    assert.deepStrictEqual(skipped(planned.chains[0]!), [[null, "CROSS_CHAIN_PENDING", "-50.00"]])
  })

  it("leaves an unavailable chain alone and out of the sums", () => {
    const away = { chainId: mainnet, available: false, holdings: [] }
    const planned = plan(
      input(
        [chain([held(usdc, 100), held(weth, 0)]), away],
        [
          [usdc, 30],
          [weth, 30],
          [mainnetUsdc, 40]
        ]
      )
    )
    assert.deepStrictEqual(trades(planned.chains[0]!.legs), [[usdc, weth, "50.00"]])
    assert.isEmpty(planned.chains[0]!.skips)
    assert.strictEqual(planned.chains[1]!.valueUsd, null)
    assert.deepStrictEqual(skipped(planned.chains[1]!), [[null, "CHAIN_UNAVAILABLE", null]])
  })
})
