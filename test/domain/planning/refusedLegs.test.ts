/** Legs that are refused, quoted by the real arithmetic of the venue's pools. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import * as fc from "fast-check"
import { type AssetId, type ChainId, erc20, type EvmAddress, evmAccount } from "#domain/values/Caip.ts"
import * as Decimal from "#domain/values/Decimal.ts"
import { BestQuotes } from "#domain/trading/BestQuotes.ts"
import { isMadeAt, priceLegs } from "#domain/trading/priceLegs.ts"
import type { PlannedLeg } from "#domain/values/PlannedTrades.ts"
import { Routing } from "#domain/trading/Routing.ts"
import { type QuoteRequest, Venue } from "#domain/trading/Venue.ts"
import { PermissionId } from "#domain/account/Authorization.ts"
import { feeBps, quoteBatch } from "#layers/evm/venue/quoteBatch.ts"
import { TestSettings } from "#test/support/settings.ts"
import { toEvm } from "#layers/evm/address.ts"

const chainId = 8453 as ChainId
const token = (index: number) => `0x${index.toString(16).padStart(40, "0")}` as EvmAddress
const asset = (index: number): AssetId => erc20(chainId, token(index))
const hub = token(9)
const limits = { slippageBps: 50, priceImpactBps: 100 }

/** Three pools of ten million dollars with the hub; every token is worth a dollar. */
const pools = [1, 2, 3].map((index) => ({
  tokens: [hub, token(index)] as const,
  reserves: [5_000_000n * Decimal.one, 5_000_000n * Decimal.one] as const
}))

const leg = (sell: number, buy: number, dollars: bigint): PlannedLeg => ({
  sell: asset(sell),
  buy: asset(buy),
  sellAmountRaw: dollars * Decimal.one,
  valueUsd: dollars * Decimal.one,
  expectedBuyRaw: (dollars * Decimal.one * 9_970n) / 10_000n
})

const saleOf = ({ buy, sell, sellAmountRaw }: QuoteRequest) => ({
  sell: sell.split(":").at(-1) as EvmAddress,
  buy: buy.split(":").at(-1) as EvmAddress,
  sellAmountRaw
})

const price = (legs: ReadonlyArray<PlannedLeg>) =>
  priceLegs(
    legs,
    quoteBatch({ pools, connectorTokens: [hub], sales: legs.map(saleOf), isMade: isMadeAt(legs, limits) }),
    limits
  )

/** Prices legs as runs do: over the port of the venue, here with the arithmetic of its pools behind it. */
const Quotes = BestQuotes.layer.pipe(
  Layer.provide([
    Layer.succeed(Venue, {
      assumedFeeBps: () => feeBps,
      quote: ({ connectorTokens, isMade, requests }) =>
        Effect.succeed(
          quoteBatch({ pools, connectorTokens: connectorTokens.map(toEvm), sales: requests.map(saleOf), isMade })
        )
    }),
    Layer.mock(Routing, {}),
    TestSettings
  ])
)
const authorization = {
  chainId,
  accountId: evmAccount(chainId, token(8)),
  permissionId: PermissionId.make("0x00000001"),
  digest: `0x${"aa".repeat(32)}`,
  policy: { _tag: "Evm" as const, router: token(7), connectorTokens: [hub], tokens: [] }
}

describe("legs that are refused", () => {
  it("leave no trace in the quotes of later ones: the small leg has the minimum that it has alone", () => {
    const small = leg(1, 3, 2_000n)
    const alone = price([small]).swaps[0]!
    for (const dollars of [26_000n, 60_000n, 1_000_000n]) {
      const { skips, swaps } = price([leg(1, 2, dollars), small])
      assert.deepStrictEqual(
        skips.map(({ code }) => code),
        ["PRICE_IMPACT"]
      )
      assert.deepStrictEqual(swaps, [alone])
    }
  })

  it.effect("leave none in what a run pays at least", () =>
    Effect.gen(function* () {
      const { price: priced } = yield* BestQuotes
      const legs = [leg(1, 2, 60_000n), leg(1, 3, 2_000n)]
      const { skips, swaps } = yield* priced(authorization, legs, { limits, routed: false })
      assert.deepStrictEqual(
        skips.map(({ code }) => code),
        ["PRICE_IMPACT"]
      )
      assert.deepStrictEqual(swaps, price(legs.slice(1)).swaps)
    }).pipe(Effect.provide(Quotes))
  )

  it("change nothing: without them the same legs are made at the same minimums", () =>
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.constantFrom(1, 2, 3), fc.constantFrom(1, 2), fc.bigInt({ min: 10n, max: 60_000n })), {
          maxLength: 8
        }),
        (drawn) => {
          const legs = drawn.map(([sell, step, dollars]) => leg(sell, ((sell + step - 1) % 3) + 1, dollars))
          const { swaps } = price(legs)
          const quoted = price(
            legs.filter(({ buy, sell, sellAmountRaw }) =>
              swaps.some((swap) => swap.sell === sell && swap.buy === buy && swap.sellAmountRaw === sellAmountRaw)
            )
          )
          assert.deepStrictEqual(quoted.swaps, swaps)
        }
      )
    ))
})
