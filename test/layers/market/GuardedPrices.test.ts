/** Two sources of a price, and what is done when they disagree. */
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import * as FastCheck from "fast-check"
import { type AssetId, type ChainId, type EvmAddress, erc20 } from "#domain/values/Caip.ts"
import * as Decimal from "#domain/values/Decimal.ts"
import { LastPriceStore } from "#domain/market/LastPriceStore.ts"
import { diverge, mayTradeOn, type Price, Prices, PricesUnavailable } from "#domain/market/Prices.ts"
import { GuardedPrices } from "#layers/market/GuardedPrices.ts"
import { PriceCheck } from "#layers/market/PriceCheck.ts"
import { PriceSource } from "#layers/market/PriceSource.ts"
import { PricesLive } from "#layers/market/PricesLive.ts"

const chain = 8453 as ChainId
const weth = erc20(chain, "0x4200000000000000000000000000000000000006" as EvmAddress)
const usd = (dollars: number) => Decimal.fromNumber(dollars)!

const withSources = <A, E>(
  body: (
    state: { first: number | undefined; second: number | undefined; isDown: boolean; asked: number },
    latest: Effect.Effect<Price | undefined, PricesUnavailable>
  ) => Effect.Effect<A, E>,
  source: string | null = "second"
) => {
  const state = { first: 100 as number | undefined, second: 100 as number | undefined, isDown: false, asked: 0 }
  const primary = Layer.succeed(PriceSource, {
    terms: Effect.succeed({ batchSize: 100, freshForMs: 10_000 }),
    fetch: Effect.fnUntraced(function* (_: ChainId, assetIds: ReadonlyArray<AssetId>) {
      if (state.isDown) return yield* new PricesUnavailable({ reason: "down" })
      const asOf = yield* DateTime.now
      return new Map(
        state.first === undefined ? [] : assetIds.map((id) => [id, { usd: usd(state.first!), asOf }] as const)
      )
    })
  })
  const check = Layer.succeed(PriceCheck, {
    source,
    toleranceBps: 500,
    priceOf: () =>
      Effect.sync(() => {
        state.asked += 1
        return state.second === undefined ? undefined : usd(state.second)
      })
  })
  return Effect.flatMap(Prices, (prices) =>
    body(
      state,
      Effect.map(prices.latest([weth]), (found) => found.get(weth))
    )
  ).pipe(
    Effect.provide(PricesLive.pipe(Layer.provide(GuardedPrices), Layer.provide([primary, check, LastPriceStore.none])))
  )
}

describe("GuardedPrices", () => {
  it.effect("a price that the second source confirms may be traded on", () =>
    withSources((state, latest) =>
      Effect.gen(function* () {
        state.second = 104.9
        const price = (yield* latest)!
        assert.strictEqual(price.usd, usd(100))
        assert.isTrue(mayTradeOn(price, 0))
      })
    )
  )

  it.effect("a price that the second source contradicts still values, but is not traded on, until they agree", () =>
    withSources((state, latest) =>
      Effect.gen(function* () {
        state.second = 90
        const price = (yield* latest)!
        assert.strictEqual(price.usd, usd(100))
        assert.deepStrictEqual(price.disputedBy, { source: "second", usd: usd(90) })
        assert.isFalse(mayTradeOn(price, 0))
        state.second = 99
        yield* TestClock.adjust("11 seconds")
        assert.isTrue(mayTradeOn((yield* latest)!, 0))
      })
    )
  )

  it.effect("a move of the market that both sources see is no dispute, although the second one's answer was kept", () =>
    withSources((state, latest) =>
      Effect.gen(function* () {
        yield* latest
        state.first = state.second = 150
        yield* TestClock.adjust("11 seconds")
        assert.isTrue(mayTradeOn((yield* latest)!, 0))
        assert.strictEqual(state.asked, 2)
      })
    )
  )

  it.effect("while they agree, the second source is asked once a minute", () =>
    withSources((state, latest) =>
      Effect.gen(function* () {
        for (let round = 0; round < 5; round += 1) {
          yield* latest
          yield* TestClock.adjust("11 seconds")
        }
        assert.strictEqual(state.asked, 1)
        yield* TestClock.adjust("10 seconds")
        yield* latest
        assert.strictEqual(state.asked, 2)
      })
    )
  )

  it.effect("a second source that is silent, or that there is none, disputes nothing", () =>
    Effect.gen(function* () {
      yield* withSources((state, latest) =>
        Effect.gen(function* () {
          state.second = undefined
          assert.isTrue(mayTradeOn((yield* latest)!, 0))
        })
      )
      yield* withSources(
        (state, latest) =>
          Effect.gen(function* () {
            state.second = 1
            assert.isTrue(mayTradeOn((yield* latest)!, 0))
            assert.strictEqual(state.asked, 0)
          }),
        null
      )
    })
  )

  it.effect("no second source makes up for a first one that has no price or is down", () =>
    withSources((state, latest) =>
      Effect.gen(function* () {
        state.first = undefined
        assert.isUndefined(yield* latest)
        state.isDown = true
        yield* TestClock.adjust("11 seconds")
        assert.isUndefined(yield* latest)
      })
    )
  )

  it("divergence is symmetric and counts from the lower price", () =>
    FastCheck.assert(
      FastCheck.property(
        FastCheck.bigInt({ min: 1n, max: 10n ** 30n }),
        FastCheck.bigInt({ min: 1n, max: 10n ** 30n }),
        FastCheck.integer({ min: 1, max: 10_000 }),
        (a, b, bps) => {
          const ratio = (x: bigint, y: bigint) => Number((x * 10n ** 12n) / y) / 1e12
          const apart = Math.max(ratio(a, b), ratio(b, a)) - 1
          assert.strictEqual(diverge(a, b, bps), diverge(b, a, bps))
          if (Math.abs(apart - bps / 10_000) > 1e-6) assert.strictEqual(diverge(a, b, bps), apart > bps / 10_000)
        }
      )
    ))
})
