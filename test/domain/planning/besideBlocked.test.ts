/** Transfers of portfolios some of whose assets cannot be traded, in round dollars. */
import { assert, describe, it } from "@effect/vitest"
import type { AssetId, ChainId } from "#domain/values/Caip.ts"
import * as Decimal from "#domain/values/Decimal.ts"
import type { ChainHoldings, Holding, PlanInput } from "#domain/planning/Plan.ts"
import { plan } from "#domain/planning/planRebalance.ts"
import { base, chain, held, input, mainnet, skipped, trades, usd } from "#test/domain/planning/examples.ts"
import { assetAt } from "#test/domain/rebalance/portfolios.ts"
import { arrived, inTransit, transfersOf } from "#test/domain/planning/transferPlans.ts"

const on = (
  { chainId, index }: { readonly chainId: ChainId; readonly index: number },
  dollars: number,
  but: Partial<Holding> = {}
) => held(assetAt(chainId, index), dollars, but)

const connected = (
  chains: ReadonlyArray<ChainHoldings>,
  weights: ReadonlyArray<readonly [AssetId, number]>,
  threshold = "1"
): PlanInput => ({
  ...input(chains, weights, { feeBps: 30, threshold }),
  transfers: {
    assets: new Map([
      [mainnet, assetAt(mainnet, 0)],
      [base, assetAt(base, 0)]
    ]),
    feeBps: 10,
    minUsd: usd("50")
  }
})

describe("plan: transfers beside assets that cannot be traded", () => {
  for (const [obstacle, code, but] of [
    ["is not authorized", "NOT_AUTHORIZED", { isAuthorized: false }],
    ["is blocked", "ASSET_BLOCKED", { isBlocked: true }],
    ["has a stale price", "STALE_PRICE", { priceIsStale: true }],
    ["has no price", "MISSING_PRICE", { priceUsd: null }]
  ] as const) {
    it(`sends nothing to a chain whose only target ${obstacle}, and says so`, () => {
      const portfolio = connected(
        [
          chain([on({ chainId: mainnet, index: 0 }, 0), on({ chainId: mainnet, index: 1 }, 10_000)], mainnet),
          chain([on({ chainId: base, index: 0 }, 0), on({ chainId: base, index: 1 }, 0, but)])
        ],
        [
          [assetAt(mainnet, 1), 50],
          [assetAt(base, 1), 50]
        ]
      )
      const planned = plan(portfolio)
      assert.isEmpty(transfersOf(planned))
      assert.isEmpty(planned.chains.flatMap(({ legs }) => legs))
      assert.deepStrictEqual(skipped(planned.chains[1]!), [
        [assetAt(base, 1), code, "-5000.00"],
        [null, "CROSS_CHAIN_PENDING", "-5000.00"]
      ])
      assert.include(planned.chains[1]!.skips[1]!.reason, `${assetAt(base, 1)} cannot be bought now`)
    })
  }

  it("sends what the one target that can be bought lacks, and all of it is bought", () => {
    const portfolio = connected(
      [
        chain([on({ chainId: mainnet, index: 0 }, 0), on({ chainId: mainnet, index: 1 }, 10_000)], mainnet),
        chain([
          on({ chainId: base, index: 0 }, 0),
          on({ chainId: base, index: 1 }, 0, { isBlocked: true }),
          on({ chainId: base, index: 2 }, 0)
        ])
      ],
      [
        [assetAt(mainnet, 1), 40],
        [assetAt(base, 1), 40],
        [assetAt(base, 2), 20]
      ]
    )
    const first = plan(portfolio)
    assert.deepStrictEqual(
      transfersOf(first).map(({ valueUsd }) => Decimal.format(valueUsd, 2)),
      ["2000.40"]
    )
    const second = plan(arrived(inTransit(portfolio, first)))
    assert.deepStrictEqual(trades(second.chains[1]!.legs), [[assetAt(base, 0), assetAt(base, 2), "1998.39"]])
    assert.isEmpty(transfersOf(second))
  })

  it("shares what is free among targets on both chains where a blocked asset takes more than its share", () => {
    const portfolio = connected(
      [
        chain(
          [
            on({ chainId: mainnet, index: 0 }, 0),
            on({ chainId: mainnet, index: 1 }, 50_000),
            on({ chainId: mainnet, index: 2 }, 200_000, { isBlocked: true })
          ],
          mainnet
        ),
        chain([on({ chainId: base, index: 0 }, 0)])
      ],
      [
        [assetAt(mainnet, 0), 30],
        [assetAt(mainnet, 2), 30],
        [assetAt(base, 0), 40]
      ]
    )
    const first = plan(portfolio)
    // 50,000 are free for targets of 30 and 40 percent.
    assert.deepStrictEqual(
      transfersOf(first).map(({ valueUsd }) => Decimal.format(valueUsd, 2)),
      ["28571.42"]
    )
    assert.strictEqual(first.chains[1]!.targets[0]!.valueUsd, 0n)
    const after = arrived(inTransit(portfolio, first))
    const second = plan(after)
    assert.isEmpty(transfersOf(second))
    assert.deepStrictEqual(skipped(second.chains[1]!), [[null, "CROSS_CHAIN_PENDING", "-71385.71"]])
    assert.include(second.chains[1]!.skips[0]!.reason, "no other chain can send it")
    assert.deepStrictEqual(plan(arrived(inTransit(after, second))), second)
  })

  it("sells nothing for a transfer for which too little may be sold, and plans both chains without it", () => {
    // 20 dollars are worth a trade; twenty holdings of 3 dollars are not, so less than half of the transfer could be
    // sold.
    const crumbs = Array.from({ length: 20 }, (_, index) => on({ chainId: mainnet, index: 2 + index }, 3))
    const portfolio = connected(
      [
        chain([on({ chainId: mainnet, index: 0 }, 0), on({ chainId: mainnet, index: 1 }, 20), ...crumbs], mainnet),
        chain([
          on({ chainId: base, index: 0 }, 0),
          on({ chainId: base, index: 1 }, 30),
          on({ chainId: base, index: 2 }, 10)
        ])
      ],
      [
        [assetAt(base, 1), 50],
        [assetAt(base, 2), 50]
      ],
      "5"
    )
    const planned = plan(portfolio)
    assert.isEmpty(transfersOf(planned))
    const [sender, receiver] = planned.chains
    assert.isEmpty(sender!.legs)
    assert.deepStrictEqual(trades(receiver!.legs), [[assetAt(base, 1), assetAt(base, 2), "10.01"]])
    const refused = [{ from: mainnet, to: base }]
    const alone = plan({ ...portfolio, transfers: { ...portfolio.transfers!, refused } })
    assert.deepStrictEqual(
      planned.chains.map(({ legs, targets }) => ({ legs, targets })),
      alone.chains.map(({ legs, targets }) => ({ legs, targets }))
    )
  })

  /** All value on mainnet, of which half belongs to base; with the reason why each chain stays off its share. */
  const reasonsOf = (of: Partial<Record<"sender" | "bridgeAsset" | "receiver", Partial<Holding>>>, terms = {}) => {
    const portfolio = connected(
      [
        chain(
          [
            on({ chainId: mainnet, index: 0 }, 0, of.bridgeAsset),
            on({ chainId: mainnet, index: 1 }, 10_000, of.sender)
          ],
          mainnet
        ),
        chain([on({ chainId: base, index: 0 }, 0, of.receiver), on({ chainId: base, index: 1 }, 0)])
      ],
      [
        [assetAt(mainnet, 1), 50],
        [assetAt(base, 1), 50]
      ]
    )
    const planned = plan({ ...portfolio, transfers: { ...portfolio.transfers!, ...terms } })
    assert.isEmpty(transfersOf(planned))
    return planned.chains.map(({ skips }) => skips.find(({ assetId }) => assetId === null)!.reason)
  }
  const more = "The chain holds 5000.00 USD more than its share of the portfolio; "
  const less = "The chain holds 5000.00 USD less than its share of the portfolio; "
  const noRoute =
    "no acceptable route was found for the transfer that would settle it: the next run asks for one again."

  it("says of both chains that no route was found, where the route between them is refused", () => {
    const refused = [{ from: mainnet, to: base }]
    assert.deepStrictEqual(reasonsOf({}, { refused }), [more + noRoute, less + noRoute])
  })

  it("says that nothing can leave or come where the transfer asset is blocked", () => {
    const [leaving] = reasonsOf({ bridgeAsset: { isBlocked: true } })
    assert.include(leaving, `${more}nothing can leave the chain: its transfer asset is blocked`)
    const [, coming] = reasonsOf({ receiver: { isBlocked: true } })
    assert.include(coming, `${less}nothing can come to the chain: its transfer asset is blocked`)
  })

  it("says that nothing of the surplus may be sold where the asset that is held is blocked", () => {
    const [surplus, gap] = reasonsOf({ sender: { isBlocked: true } })
    assert.include(surplus, `${more}none of it may be sold and is not needed by the chain's own targets`)
    assert.include(gap, `${less}no other chain can send it: a transfer needs 50.00 USD above`)
  })

  it("says that the surplus has not arrived where all of it is on its way", () => {
    const [surplus] = reasonsOf({ sender: { balanceRaw: 0n, incomingRaw: 10_000_000_000n } })
    assert.include(surplus, `${more}only 0.00 USD of it can leave now: the rest has not arrived`)
  })
})
