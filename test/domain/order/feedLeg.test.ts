import { assert, it } from "@effect/vitest"
import { DateTime, Result } from "effect"
import { feedLeg } from "#domain/order/feedLeg.ts"
import * as Decimal from "#domain/values/Decimal.ts"
import { baseUsdc, baseWeth } from "#test/support/assets.ts"

const now = DateTime.makeUnsafe(0)
const price = (usd: bigint) => ({ usd: usd * Decimal.one, asOf: now })

it("an owner's swap into whole units is made for what they cost, and refused where the rest would buy nothing", () => {
  const units = { ...baseWeth, decimals: 0 }
  const swapOf = (dollars: bigint) =>
    feedLeg(
      { sell: baseUsdc.assetId, buy: units.assetId, amountRaw: dollars * 1_000_000n },
      {
        assets: new Map([
          [baseUsdc.assetId, baseUsdc],
          [units.assetId, units]
        ]),
        prices: new Map([
          [baseUsdc.assetId, price(1n)],
          [units.assetId, price(30n)]
        ]),
        now,
        priceMaxAgeMs: 0,
        feeBps: 0
      }
    )
  assert.strictEqual(Result.getOrThrow(swapOf(90n)).leg.expectedBuyRaw, 3n)
  const refusal = Result.merge(swapOf(100n))
  assert.include(String(refusal), "worth 30.00 USD, and 10.00 USD of what is sold would buy none")
})
