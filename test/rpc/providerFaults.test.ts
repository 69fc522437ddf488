/** Faults of the providers of shares, through the sandbox's switches: what is known stays, and what is missing is said. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { content } from "#layers/catalogue/content.ts"
import { Faults } from "#sandbox/control/Faults.ts"
import { MovableClock } from "#test/api/support/MovableClock.ts"
import { appleOnRobinhood } from "#test/rpc/support/assets.ts"
import { makeMarketApi, MarketApi } from "#test/rpc/support/MarketApi.ts"

const minute = 60_000
const fromCoinbase = content.representations.find(({ issuer }) => issuer === "coinbase")!
const coinbaseId = `${fromCoinbase.caipAssetId.split(":").at(-1)!}:8453`

layer(makeMarketApi({ coinGecko: "none", massive: true, coinbase: true, xstocks: true }, 10), {
  excludeTestServices: true
})("faults of providers", (it) => {
  const shareOf = Effect.gen(function* () {
    const { ask } = yield* MarketApi
    const { equityDetails, marketData } = yield* ask("assets.getAssetDetails", { assetId: appleOnRobinhood })
    return { market: equityDetails.market, marketData }
  })
  const multiplier = Effect.gen(function* () {
    const { ask } = yield* MarketApi
    const { items } = yield* ask("assets.getAssetOverlaysBatch", { assetIds: [coinbaseId] })
    return items[0].providerExtensions.multiplier
  })

  it.effect("without any data a share has no price, and says that it has none", () =>
    Effect.gen(function* () {
      const { market, marketData } = yield* shareOf
      assert.isNull(market)
      assert.isNull(marketData.priceUsd)
      assert.isTrue(marketData.stale)
      assert.isNull(yield* multiplier)
    })
  )

  for (const mode of ["error", "rate-limited", "unauthorized", "forbidden", "truncated", "slow", "down"] as const) {
    it.effect(`while providers answer "${mode}", details of a share stay as they were, or come late`, () =>
      Effect.gen(function* () {
        const { refresh } = yield* MarketApi
        const clock = yield* MovableClock
        const faults = yield* Faults
        clock.advance(11 * minute)
        yield* refresh
        const before = yield* shareOf
        assert.isNotNull(before.market.primaryPriceUsd)
        assert.strictEqual(yield* multiplier, "1.5")
        // Three failures end a round; a slow answer is an answer.
        const count = mode === "slow" ? 1 : undefined
        yield* faults.set("massive-rest", mode, count)
        yield* faults.set("issuers", mode, count)
        clock.advance(11 * minute)
        yield* refresh
        const during = yield* shareOf
        assert.isNotNull(during.market.primaryPriceUsd)
        if (mode !== "slow") assert.strictEqual(during.market.updatedAt, before.market.updatedAt)
        assert.strictEqual(yield* multiplier, "1.5")
        yield* faults.set("massive-rest", "ok", undefined)
        yield* faults.set("issuers", "ok", undefined)
        clock.advance(3 * minute)
        yield* refresh
        yield* refresh
        assert.notStrictEqual((yield* shareOf).market.updatedAt, before.market.updatedAt)
      })
    )
  }
})
