/**
 * Faults of the providers of shares, through the sandbox's switches: what is known stays, and what is missing is said.
 */
import { assert, layer } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { keyPartsOf } from "#domain/listing/AssetKey.ts"
import { content } from "#layers/catalogue/content.ts"
import { Faults } from "#sandbox/faults/Faults.ts"
import { MovableClock } from "#test/support/MovableClock.ts"
import { appleOnRobinhood } from "#test/rpc/support/assets.ts"
import { makeMarketApi, MarketApi } from "#test/rpc/support/MarketApi.ts"

const minute = 60_000
const day = 24 * 60 * minute
const fromCoinbase = content.representations.find(({ issuer }) => issuer === "coinbase")!
/** A token of xStocks on a chain, by its symbol. */
const xStock = (symbol: string, chain: "solana" | "eip155:1") => {
  const found = content.representations.find(
    (token) => token.symbol === symbol && token.issuer === "xstocks" && token.caipAssetId.startsWith(chain)
  )!
  return keyPartsOf(found.caipAssetId).assetId
}
const coinbaseId = `${fromCoinbase.caipAssetId.split(":").at(-1)!}:8453`

layer(makeMarketApi({ coinGecko: "none", massive: true, coinbase: true, xstocks: true }, 10), {
  excludeTestServices: true
})("faults of providers", (it) => {
  const shareOf = Effect.gen(function* () {
    const { ask } = yield* MarketApi
    const { equityDetails, marketData } = yield* ask("assets.getAssetDetails", { assetId: appleOnRobinhood })
    return { market: equityDetails.market, marketData }
  })
  const extensionsOf = (assetId: string) =>
    Effect.gen(function* () {
      const { ask } = yield* MarketApi
      const { items } = yield* ask("assets.getAssetOverlaysBatch", { assetIds: [assetId] })
      return items[0].providerExtensions
    })
  const multiplier = Effect.map(extensionsOf(coinbaseId), (extensions) => extensions.multiplier)
  const splitOnSolana = Effect.map(extensionsOf(xStock("AAPLx", "solana")), (extensions) => extensions.multiplier)

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
        assert.strictEqual(yield* splitOnSolana, "1.5")
        // Three failures end a round; a slow answer is an answer.
        const count = mode === "slow" ? 1 : undefined
        yield* faults.set("massive-rest", { mode, count })
        yield* faults.set("issuers", { mode, count })
        clock.advance(11 * minute)
        yield* refresh
        const during = yield* shareOf
        assert.isNotNull(during.market.primaryPriceUsd)
        if (mode !== "slow") assert.strictEqual(during.market.updatedAt, before.market.updatedAt)
        assert.strictEqual(yield* multiplier, "1.5")
        assert.strictEqual(yield* splitOnSolana, "1.5")
        yield* faults.set("massive-rest", { mode: "ok" })
        yield* faults.set("issuers", { mode: "ok" })
        clock.advance(3 * minute)
        yield* refresh
        yield* refresh
        assert.notStrictEqual((yield* shareOf).market.updatedAt, before.market.updatedAt)
      })
    )
  }

  it.effect(
    "xStocks' registry lists halts, and on Solana the shares of a token; on EVM chains a token is a share",
    () =>
      Effect.gen(function* () {
        const { refresh } = yield* MarketApi
        const clock = yield* MovableClock
        // A UTC day begins: what this and the next test ask for is announced for its end, at whatever hour they run.
        clock.advance(day - ((yield* Clock.currentTimeMillis) % day))
        // As many rounds as it takes to ask for all tokens, ten requests each.
        for (let round = 0; round < 5; round += 1) {
          clock.advance(61_000)
          yield* refresh
        }
        assert.deepInclude(yield* extensionsOf(xStock("AAPLx", "solana")), {
          unitModel: "scaled",
          multiplier: "1.5",
          source: "xstocks"
        })
        assert.deepInclude(yield* extensionsOf(xStock("AAPLx", "eip155:1")), {
          unitModel: "rebasing",
          multiplier: "1",
          pausedFeatures: []
        })
        assert.deepStrictEqual((yield* extensionsOf(xStock("MSTRx", "eip155:1"))).pausedFeatures, ["trading"])
      })
  )

  it.effect("a multiplier that was announced counts from its time on, though the issuer is down by then", () =>
    Effect.gen(function* () {
      const { refresh } = yield* MarketApi
      const clock = yield* MovableClock
      const faults = yield* Faults
      const split = Effect.map(extensionsOf(xStock("TSLAx", "solana")), (extensions) => extensions.multiplier)
      assert.strictEqual(yield* split, "1")
      yield* faults.set("issuers", { mode: "down" })
      clock.advance(day)
      yield* refresh
      assert.strictEqual(yield* split, "3")
      yield* faults.set("issuers", { mode: "ok" })
    })
  )
})
