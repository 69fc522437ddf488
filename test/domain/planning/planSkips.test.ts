import { assert, describe, it } from "@effect/vitest"
import { isOnTarget } from "#domain/planning/isOnTarget.ts"
import type { Holding } from "#domain/planning/Plan.ts"
import { plan } from "#domain/planning/planRebalance.ts"
import {
  chain,
  dai,
  held,
  input,
  planOne,
  skipped,
  spare,
  trades,
  usd,
  usdc,
  wbtc,
  weth
} from "#test/domain/planning/examples.ts"

describe("plan: what cannot be traded", () => {
  it("keeps a blocked asset, and shares what it leaves among the others by their weights", () => {
    const planned = planOne(
      [held(usdc, 70, { isBlocked: true }), held(weth, 30), held(wbtc, 0)],
      [
        [usdc, 50],
        [weth, 25],
        [wbtc, 25]
      ]
    )
    assert.deepStrictEqual(trades(planned.legs), [[weth, wbtc, "15.00"]])
    assert.deepStrictEqual(skipped(planned), [
      [usdc, "ASSET_BLOCKED", "20.00"],
      [weth, "NO_COUNTERPART", "-10.00"],
      [wbtc, "NO_COUNTERPART", "-10.00"]
    ])
  })

  it("keeps an asset that somebody else may move, and names who", () => {
    const planned = planOne(
      [held(usdc, 70, { foreignAuthority: "7Np41oeYqPefeNQEHSv1UDhYrehxin3NStELsSKCT4K2" }), held(weth, 30)],
      [
        [usdc, 50],
        [weth, 50]
      ]
    )
    assert.isEmpty(planned.legs)
    assert.deepStrictEqual(skipped(planned), [
      [usdc, "FOREIGN_AUTHORITY", "20.00"],
      [weth, "NO_COUNTERPART", "-20.00"]
    ])
    assert.include(planned.skips[0]!.reason, "7Np41oeYqPefeNQEHSv1UDhYrehxin3NStELsSKCT4K2 may move it")
  })

  it("keeps an asset whose price is old", () => {
    const planned = planOne(
      [held(usdc, 70, { priceIsStale: true }), held(weth, 30)],
      [
        [usdc, 50],
        [weth, 50]
      ]
    )
    assert.isEmpty(planned.legs)
    assert.deepStrictEqual(skipped(planned), [
      [usdc, "STALE_PRICE", "20.00"],
      [weth, "NO_COUNTERPART", "-20.00"]
    ])
  })

  it("does not buy what the account's policy does not list", () => {
    const planned = planOne(
      [held(usdc, 100), held(weth, 0, { isAuthorized: false }), held(wbtc, 0)],
      [
        [usdc, 40],
        [weth, 30],
        [wbtc, 30]
      ]
    )
    assert.deepStrictEqual(trades(planned.legs), [[usdc, wbtc, "30.00"]])
    assert.deepStrictEqual(skipped(planned), [
      [usdc, "NO_COUNTERPART", "30.00"],
      [weth, "NOT_AUTHORIZED", "-30.00"]
    ])
  })

  it("still sells it", () => {
    const planned = planOne(
      [held(usdc, 0), held(weth, 100, { isAuthorized: false })],
      [
        [usdc, 50],
        [weth, 50]
      ]
    )
    assert.deepStrictEqual(trades(planned.legs), [[weth, usdc, "50.00"]])
    assert.isEmpty(planned.skips)
  })

  it("fills all targets to the same part when there is not enough to sell", () => {
    const planned = planOne(
      [held(usdc, 60, { isBlocked: true }), held(weth, 30), held(wbtc, 10), held(dai, 0)],
      [
        [usdc, 20],
        [weth, 20],
        [wbtc, 25],
        [dai, 35]
      ]
    )
    // 40 dollars can be traded and 80 are due: each target gets half. Of wbtc 2.50 are missing, less than the
    // threshold.
    assert.deepStrictEqual(trades(planned.legs), [[weth, dai, "17.50"]])
  })

  it("takes a held asset without a price to be on target", () => {
    const planned = planOne(
      [held(usdc, 100), held(weth, 0), held(wbtc, 7, { priceUsd: null })],
      [
        [usdc, 30],
        [weth, 30],
        [wbtc, 40]
      ]
    )
    assert.deepStrictEqual(trades(planned.legs), [[usdc, weth, "50.00"]])
    assert.deepStrictEqual(skipped(planned), [[wbtc, "MISSING_PRICE", null]])
    assert.strictEqual(planned.weight, 6_000)
    assert.deepStrictEqual(planned.targets[2], { assetId: wbtc, weight: 4_000, valueUsd: null, targetUsd: null })
  })

  it("leaves the share of an asset without a price unspent when none is held", () => {
    for (const priceUsd of [null, 0n]) {
      const planned = planOne(
        [held(usdc, 100), held(weth, 0), held(wbtc, 0, { priceUsd })],
        [
          [usdc, 30],
          [weth, 30],
          [wbtc, 40]
        ]
      )
      assert.deepStrictEqual(trades(planned.legs), [[usdc, weth, "30.00"]])
      assert.deepStrictEqual(skipped(planned), [
        [usdc, "NO_COUNTERPART", "40.00"],
        [wbtc, "MISSING_PRICE", "-40.00"]
      ])
    }
  })

  it("treats a target that is not listed on its chain as one without a price", () => {
    const planned = planOne(
      [held(usdc, 100)],
      [
        [usdc, 60],
        [weth, 40]
      ]
    )
    assert.isEmpty(planned.legs)
    assert.include(
      skipped(planned).map(([assetId, code]) => `${assetId} ${code}`),
      `${weth} MISSING_PRICE`
    )
  })

  it("does not push another asset past its target into a share that must stay unspent", () => {
    const planned = planOne(
      [held(usdc, 100), held(weth, 29), held(wbtc, 0, { priceUsd: null })],
      [
        [usdc, 37],
        [weth, 23],
        [wbtc, 40]
      ],
      { threshold: "5" }
    )
    assert.isEmpty(planned.legs)
  })

  it("says that a whole unit of a coarse token is more than it is off", () => {
    const coarse = { decimals: 0, balanceRaw: 0n, priceUsd: 1_000n * 10n ** 18n }
    const planned = planOne(
      [held(usdc, 1_800), held(weth, 0, coarse)],
      [
        [usdc, 50],
        [weth, 50]
      ]
    )
    assert.isEmpty(planned.legs)
    assert.include(planned.skips[1]!.reason, "less than its smallest unit, which is worth 1000.00 USD")
  })

  it("buys whole units of a coarse token and sells no more than they cost", () => {
    const coarse = { decimals: 0, balanceRaw: 0n, priceUsd: 300n * 10n ** 18n }
    const { legs } = planOne(
      [held(usdc, 1_500), held(weth, 0, coarse)],
      [
        [usdc, 50],
        [weth, 50]
      ]
    )
    assert.deepStrictEqual(
      legs.map((leg) => [leg.sellAmountRaw, leg.expectedBuyRaw]),
      [[600_000_000n, 2n]]
    )
  })

  it("leaves a token that does not answer its balance, and trades the rest of the chain", () => {
    const planned = planOne(
      [held(usdc, 75), held(weth, 0), held(wbtc, 0, { isUnread: true })],
      [
        [usdc, 25],
        [weth, 50],
        [wbtc, 25]
      ]
    )
    assert.deepStrictEqual(trades(planned.legs), [[usdc, weth, "50.00"]])
    assert.deepStrictEqual(skipped(planned), [[wbtc, "BALANCE_UNKNOWN", null]])
  })

  it("counts nothing of what no market backs, and trades the rest of the chain and between chains", () => {
    const unbacked = { valueUsd: usd("499000000"), paidUsd: 0n }
    const holdings = [held(usdc, 75), held(weth, 25), held(spare, 499, { priceUsd: null, unbacked })]
    const weights = [
      [usdc, 50],
      [weth, 50]
    ] as const
    const planned = planOne(holdings, weights)
    assert.deepStrictEqual(trades(planned.legs), [[usdc, weth, "25.00"]])
    assert.deepStrictEqual(skipped(planned), [[spare, "NO_MARKET", null]])
    assert.strictEqual(planned.valueUsd, usd("100"))
  })

  it("is on target with it", () => {
    const unbacked = { valueUsd: usd("499000000"), paidUsd: 0n }
    const alone = (but: Partial<Holding>) => {
      const task = input([chain([held(usdc, 100), held(spare, 499, { priceUsd: null, ...but })])], [[usdc, 100]])
      return isOnTarget(task, plan(task))
    }
    assert.isTrue(alone({ unbacked }))
    assert.isFalse(alone({}), "a price that is missing is waited for")
  })

  it("sells more than whole units cost, so that a market which pays a little less gives them", () => {
    const coarse = { decimals: 0, balanceRaw: 0n, priceUsd: 300n * 10n ** 18n }
    const planned = plan({
      ...input(
        [chain([held(usdc, 1_500), held(weth, 0, coarse)])],
        [
          [usdc, 50],
          [weth, 50]
        ],
        { feeBps: 30 }
      ),
      headroomBps: 50
    })
    const [leg] = planned.chains[0]!.legs
    assert.strictEqual(leg!.expectedBuyRaw, 2n)
    // 600 dollars, the fee of the venue and the headroom.
    assert.strictEqual(leg!.sellAmountRaw, 604_838_710n)
  })

  it("explains each skip in a sentence", () => {
    const { skips } = planOne(
      [held(usdc, 70, { isBlocked: true }), held(weth, 30)],
      [
        [usdc, 50],
        [weth, 50]
      ]
    )
    assert.strictEqual(
      skips[0]!.reason,
      "The asset is 20.00 USD above its target, but it is blocked from trading: it is kept as it is until the block is lifted."
    )
  })
})
