/** The better of venue and provider makes each leg, and nothing that the provider does keeps a leg from being made. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { evmAccount } from "#domain/values/Caip.ts"
import * as Decimal from "#domain/values/Decimal.ts"
import { type ChainAuthorization, PermissionId } from "#domain/account/Authorization.ts"
import { BestQuotes } from "#domain/trading/BestQuotes.ts"
import type { PlannedLeg } from "#domain/values/PlannedTrades.ts"
import { assumedExecution } from "#domain/trading/Swap.ts"
import { type Quote, Venue } from "#domain/trading/Venue.ts"
import {
  RouteRefused,
  Routing,
  RoutingUnavailable,
  type RouteQuote,
  type SwapRequest
} from "#domain/trading/Routing.ts"
import { baseBtc, baseUsdc, baseWeth } from "#test/support/assets.ts"
import { TestSettings } from "#test/support/settings.ts"
import { addressOf, evmPolicy } from "#layers/evm/address.ts"

const contract = addressOf(baseBtc.assetId)
const chain: ChainAuthorization = {
  chainId: baseUsdc.chainId,
  accountId: evmAccount(baseUsdc.chainId, addressOf(baseWeth.assetId)),
  permissionId: PermissionId.make("0x00000001"),
  digest: `0x${"aa".repeat(32)}`,
  policy: { _tag: "Evm", router: addressOf(baseWeth.assetId), connectorTokens: [], tokens: [], routedSwap: contract }
}
const limits = { slippageBps: 50, priceImpactBps: 100 }

const leg = (usd: bigint, buy = baseWeth): PlannedLeg => ({
  sell: baseUsdc.assetId,
  buy: buy.assetId,
  sellAmountRaw: usd * 1_000_000n,
  valueUsd: usd * Decimal.one,
  expectedBuyRaw: usd * 1_000n
})

const quoteOf = ({ buy, expectedBuyRaw, sell }: PlannedLeg, priceImpactBps = 5): Quote => ({
  buyAmountRaw: expectedBuyRaw,
  execution: assumedExecution({ sell, buy }),
  priceImpactBps,
  feeRaw: null,
  furtherFeeBps: 0
})

const offer = (expectedRaw: bigint, tool = "pools", gasUsd = 0n): RouteQuote => ({
  tool,
  expectedRaw,
  minRaw: (expectedRaw * 9_950n) / 10_000n,
  gasUsd,
  step: { tool }
})

type Port = Pick<Routing["Service"], "swapQuotes" | "swapCall">
const swapCallOf: Port["swapCall"] = (_, { step: __, ...terms }) => Effect.succeed({ ...terms, data: "0xabcd" })
const down = Effect.fail(new RoutingUnavailable({ reason: "LI.FI cannot be reached" }))

const price = Effect.fnUntraced(function* (
  legs: ReadonlyArray<PlannedLeg>,
  port: Port,
  options: {
    readonly quotes?: ReadonlyArray<Quote | null>
    readonly chain?: ChainAuthorization
    readonly routed?: boolean
  } = {}
) {
  const asked: Array<SwapRequest> = []
  const layer = BestQuotes.layer.pipe(
    Layer.provide([
      Layer.succeed(Venue, {
        assumedFeeBps: () => 30,
        quote: () => Effect.succeed(options.quotes ?? legs.map((one) => quoteOf(one)))
      }),
      Layer.succeed(Routing, {
        quote: () => Effect.succeedNone,
        status: () => Effect.succeed({ _tag: "Pending", detail: "" } as const),
        swapQuotes: (request) => Effect.suspend(() => (asked.push(request), port.swapQuotes(request))),
        swapCall: port.swapCall
      }),
      TestSettings
    ])
  )
  const prices = yield* Effect.flatMap(BestQuotes, (quotes) =>
    quotes.price(options.chain ?? chain, legs, { limits, routed: options.routed ?? true })
  ).pipe(Effect.provide(layer))
  return { ...prices, asked }
})

const offering = (...offers: ReadonlyArray<RouteQuote>): Port => ({
  swapQuotes: () => Effect.succeed(offers),
  swapCall: swapCallOf
})

describe("BestQuotes", () => {
  it.effect(
    "makes a swap over the route that pays more, with its own minimum, and reports what the venue offered",
    () =>
      Effect.gen(function* () {
        const { asked, skips, swaps } = yield* price(
          [leg(1_000n)],
          offering(offer(1_001_000n), offer(1_003_000n, "best"))
        )
        assert.isEmpty(skips)
        const [swap] = swaps
        assert.strictEqual(swap?.tool, "best")
        const path = [leg(1_000n).sell, leg(1_000n).buy].map(addressOf)
        assert.deepStrictEqual(swap?.execution, { _tag: "Evm", path, call: { contract, data: "0xabcd" } })
        assert.strictEqual(swap?.minBuyAmountRaw, (1_003_000n * 9_950n) / 10_000n)
        assert.strictEqual(swap?.comparedQuotes?.venueRaw, 1_000_000n)
        assert.strictEqual(swap?.comparedQuotes?.routed?.expectedRaw, 1_003_000n)
        assert.deepStrictEqual(asked, [
          {
            sell: baseUsdc.assetId,
            buy: baseWeth.assetId,
            amountRaw: 1_000_000_000n,
            taker: contract,
            slippageBps: 50
          }
        ])
      })
  )

  for (const [what, port, reason] of [
    ["pays less than the venue", offering(offer(999_000n)), "would be needed"],
    ["pays hardly more", offering(offer(1_000_500n)), "would be needed"],
    ["costs more gas than it gains", offering(offer(1_003_000n, "pools", 3n * Decimal.one)), "would be needed"],
    ["has no route", offering(), "the provider has no route"],
    ["is down", { swapQuotes: () => down, swapCall: swapCallOf }, "cannot be reached"],
    ["goes down in between", { ...offering(offer(1_003_000n)), swapCall: () => down }, "cannot be reached"],
    [
      "lies in its transaction",
      { ...offering(offer(1_003_000n)), swapCall: () => Effect.fail(new RouteRefused({ reason: "it lies" })) },
      "it lies"
    ],
    [
      "pays less once it is a transaction",
      { ...offering(offer(1_003_000n)), swapCall: () => Effect.succeed({ ...offer(999_000n), data: "0x" }) },
      "would be needed"
    ]
  ] as ReadonlyArray<readonly [string, Port, string]>) {
    it.effect(`the venue makes the swap when the provider ${what}`, () =>
      Effect.gen(function* () {
        const { skips, swaps } = yield* price([leg(1_000n)], port)
        assert.isEmpty(skips)
        assert.deepStrictEqual(swaps[0]?.execution, quoteOf(leg(1_000n)).execution)
        assert.isUndefined(swaps[0]?.tool)
        assert.strictEqual(swaps[0]?.minBuyAmountRaw, 995_000n)
        assert.include(swaps[0]?.comparedQuotes?.reason, reason)
      })
    )
  }

  it.effect("takes the second best when the best is refused", () =>
    Effect.gen(function* () {
      const { swaps } = yield* price([leg(1_000n)], {
        ...offering(offer(1_002_000n, "second"), offer(1_005_000n, "liar")),
        swapCall: (request, one) =>
          one.tool === "liar" ? Effect.fail(new RouteRefused({ reason: "it lies" })) : swapCallOf(request, one)
      })
      assert.strictEqual(swaps[0]?.tool, "second")
    })
  )

  it.effect("takes the second best when the best promises much and grants little", () =>
    Effect.gen(function* () {
      const vague = { ...offer(1_010_000n, "vague"), minRaw: 900_000n }
      const { swaps } = yield* price([leg(1_000n)], offering(vague, offer(1_002_000n, "sure")))
      assert.strictEqual(swaps[0]?.tool, "sure")
      const alone = yield* price([leg(1_000n)], offering(vague))
      assert.include(alone.swaps[0]?.comparedQuotes?.reason, "the minimum acceptable is 995000")
    })
  )

  it.effect("makes a swap that the venue could not make within the limits", () =>
    Effect.gen(function* () {
      const large = leg(1_000n)
      const quotes = [{ ...quoteOf(large, 900), buyAmountRaw: 920_000n }]
      const { skips, swaps } = yield* price([large], offering(offer(995_000n)), { quotes })
      assert.isEmpty(skips)
      assert.strictEqual(swaps[0]?.tool, "pools")
      const refused = yield* price([large], offering(offer(980_000n)), { quotes })
      assert.deepStrictEqual(
        refused.skips.map(({ code }) => code),
        ["PRICE_IMPACT"]
      )
      assert.match(refused.skips[0]!.reason, /move the market by 900 .* over a route: it pays 200 basis points less/u)
    })
  )

  it.effect("asks for nothing that the contract could not hold against the venue", () =>
    Effect.gen(function* () {
      const { asked, skips } = yield* price([leg(1_000n)], offering(offer(2_000_000n)), { quotes: [null] })
      assert.isEmpty(asked)
      assert.deepStrictEqual(
        skips.map(({ code }) => code),
        ["NO_ROUTE"]
      )
    })
  )

  it.effect("asks nothing under a grant from before routes, nor when its settings forbid it", () =>
    Effect.gen(function* () {
      const { routedSwap: _, ...policy } = evmPolicy(chain)
      for (const options of [{ chain: { ...chain, policy } }, { routed: false }]) {
        const { asked, swaps } = yield* price([leg(1_000n)], offering(offer(2_000_000n)), options)
        assert.isEmpty(asked)
        assert.lengthOf(swaps, 1)
        assert.isUndefined(swaps[0]?.comparedQuotes)
      }
    })
  )

  it.effect("asks about the few most valuable legs, and keeps the order of all", () =>
    Effect.gen(function* () {
      const legs = [40n, 100n, 600n, 200n, 500n, 300n].map((usd) => leg(usd, usd === 600n ? baseBtc : baseWeth))
      const { asked, swaps } = yield* price(legs, {
        swapQuotes: ({ amountRaw, buy }) =>
          Effect.succeed(buy === baseBtc.assetId ? [] : [offer((amountRaw / 1_000n) * 2n)]),
        swapCall: swapCallOf
      })
      assert.deepStrictEqual(
        asked.map(({ amountRaw }) => amountRaw / 1_000_000n),
        [600n, 200n, 500n, 300n]
      )
      assert.deepStrictEqual(
        swaps.map(({ sellAmountRaw }) => sellAmountRaw),
        legs.map(({ sellAmountRaw }) => sellAmountRaw)
      )
      assert.deepStrictEqual(
        swaps.map(({ tool }) => tool),
        [undefined, undefined, undefined, "pools", "pools", "pools"]
      )
    })
  )
})
