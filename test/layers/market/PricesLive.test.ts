import { assert, describe, it } from "@effect/vitest"
import { Context, DateTime, Deferred, Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { type AssetId, type ChainId, type EvmAddress, erc20 } from "#domain/values/Caip.ts"
import { LastPriceStore } from "#domain/market/LastPriceStore.ts"
import { type Price, Prices, PricesUnavailable } from "#domain/market/Prices.ts"
import { PriceSource } from "#layers/market/PriceSource.ts"
import { PricesLive } from "#layers/market/PricesLive.ts"

const asset = (index: number, chainId = 8453): AssetId =>
  erc20(chainId as ChainId, `0x${index.toString(16).padStart(40, "0")}` as EvmAddress)

const price = (usd: bigint): Price => ({ usd, asOf: DateTime.makeUnsafe(0) })

/** Last prices in memory: what several processes share, or one that is started again finds. */
const lastPricesIn = (kept: Map<AssetId, Price | null>) =>
  Layer.succeed(LastPriceStore, {
    keep: (answers) =>
      Effect.sync(() => {
        for (const [assetId, price] of answers) {
          const before = kept.get(assetId)
          const isNewer = price !== null && (before?.asOf.epochMilliseconds ?? -1) <= price.asOf.epochMilliseconds
          if (isNewer || before === undefined) kept.set(assetId, price)
        }
      }),
    read: (assetIds) =>
      Effect.sync(
        () =>
          new Map(assetIds.flatMap((assetId) => (kept.has(assetId) ? [[assetId, kept.get(assetId)!] as const] : [])))
      )
  })

/** A source of the test: its prices, its requests, and whether it fails or holds its answers. */
const makeSource = () => {
  const state = {
    prices: new Map<AssetId, Price>(),
    requests: [] as Array<ReadonlyArray<AssetId>>,
    isDown: false,
    gate: undefined as Deferred.Deferred<void> | undefined
  }
  const fetch = (_: ChainId, assetIds: ReadonlyArray<AssetId>) =>
    Effect.gen(function* () {
      state.requests.push(assetIds)
      if (state.gate !== undefined) yield* Deferred.await(state.gate)
      if (state.isDown) return yield* new PricesUnavailable({ reason: "down" })
      return new Map(
        assetIds.flatMap((assetId) =>
          state.prices.has(assetId) ? [[assetId, state.prices.get(assetId)!] as const] : []
        )
      )
    })
  const terms = Effect.succeed({ batchSize: 100, freshForMs: 10_000 })
  const kept = new Map<AssetId, Price | null>()
  /** Built again it is another process, or the same one after its end. */
  const started = () =>
    PricesLive.pipe(Layer.provide([Layer.succeed(PriceSource, { terms, fetch }), lastPricesIn(kept)]))
  return { state, started, layer: started() }
}

const withSource = <A, E>(
  body: (state: ReturnType<typeof makeSource>["state"], prices: Prices["Service"]) => Effect.Effect<A, E>
) => {
  const { state, layer } = makeSource()
  return Effect.flatMap(Prices, (prices) => body(state, prices)).pipe(Effect.provide(layer))
}

describe("PricesLive", () => {
  it.effect("asks once in ten seconds, and leaves out what the source does not know", () =>
    withSource((state, prices) =>
      Effect.gen(function* () {
        state.prices.set(asset(1), price(5n))
        const first = yield* prices.latest([asset(1), asset(2), asset(1)])
        assert.deepStrictEqual([...first], [[asset(1), price(5n)]])
        yield* TestClock.adjust("9 seconds")
        yield* prices.latest([asset(1), asset(2)])
        assert.strictEqual(state.requests.length, 1)
        state.prices.set(asset(1), price(6n))
        yield* TestClock.adjust("1 second")
        assert.strictEqual((yield* prices.latest([asset(1)])).get(asset(1))!.usd, 6n)
        assert.deepStrictEqual(state.requests[1], [asset(1)])
      })
    )
  )

  it.effect("callers at the same time share requests, and one that is interrupted fails no other", () =>
    withSource((state, prices) =>
      Effect.gen(function* () {
        state.gate = yield* Deferred.make<void>()
        state.prices.set(asset(1), price(1n)).set(asset(2), price(2n)).set(asset(3), price(3n))
        const impatient = yield* Effect.forkChild(prices.latest([asset(1), asset(2)]), { startImmediately: true })
        const patient = yield* Effect.forkChild(prices.latest([asset(2), asset(3)]), { startImmediately: true })
        yield* Effect.yieldNow
        yield* Fiber.interrupt(impatient)
        yield* Deferred.succeed(state.gate, undefined)
        assert.strictEqual((yield* Fiber.join(patient)).size, 2)
        assert.deepStrictEqual(state.requests, [[asset(1), asset(2)], [asset(3)]])
      })
    )
  )

  it.effect("splits by chain and by the size of a request", () =>
    withSource((state, prices) =>
      Effect.gen(function* () {
        yield* prices.latest([...Array.from({ length: 150 }, (_, index) => asset(index)), asset(1, 42161)])
        assert.deepStrictEqual(
          state.requests.map(({ length }) => length),
          [100, 50, 1]
        )
      })
    )
  )

  it.effect("gives the last price with its own time while the source is down", () =>
    withSource((state, prices) =>
      Effect.gen(function* () {
        state.prices.set(asset(1), price(5n))
        yield* prices.latest([asset(1)])
        state.isDown = true
        yield* TestClock.adjust("1 hour")
        assert.deepStrictEqual([...(yield* prices.latest([asset(1)]))], [[asset(1), price(5n)]])
        yield* prices.latest([asset(1)])
        assert.strictEqual(state.requests.length, 2, "a failing source is not asked again at once")
        state.isDown = false
        state.prices.set(asset(1), price(7n))
        yield* TestClock.adjust("3 seconds")
        assert.strictEqual((yield* prices.latest([asset(1)])).get(asset(1))!.usd, 7n)
      })
    )
  )

  it.effect("two processes and one that was started again give the same last prices", () => {
    const { state, started } = makeSource()
    const inProcess = (assets: ReadonlyArray<AssetId>) =>
      Effect.scoped(
        Effect.gen(function* () {
          const context = yield* Layer.build(Layer.fresh(started()))
          const latest = Context.get(context, Prices).latest
          return { found: yield* latest(assets), latest }
        })
      )
    const at = (usd: bigint, seconds: number): Price => ({ usd, asOf: DateTime.makeUnsafe(seconds * 1_000) })
    return Effect.gen(function* () {
      const first = yield* Layer.build(started())
      const { latest } = Context.get(first, Prices)
      state.prices.set(asset(1), at(5n, 1)).set(asset(3), at(9n, 1))
      yield* latest([asset(1), asset(2), asset(3)])
      state.prices.set(asset(1), at(6n, 2)).delete(asset(3))
      const second = yield* inProcess([asset(1), asset(3)])
      assert.deepStrictEqual(second.found.get(asset(3)), at(9n, 1), "it is not listed any more, and cost this")
      state.isDown = true
      yield* TestClock.adjust("10 days")
      const expected = [
        [asset(1), at(6n, 2)],
        [asset(3), at(9n, 1)]
      ]
      assert.deepStrictEqual([...(yield* latest([asset(1), asset(2), asset(3)]))], expected)
      assert.deepStrictEqual([...(yield* inProcess([asset(1), asset(2), asset(3)])).found], expected)
      assert.strictEqual((yield* Effect.flip(inProcess([asset(4)])))._tag, "PricesUnavailable")
    }).pipe(Effect.scoped)
  })

  it.effect("fails when a price was never known, even if others were", () =>
    withSource((state, prices) =>
      Effect.gen(function* () {
        state.prices.set(asset(1), price(5n))
        yield* prices.latest([asset(1)])
        state.isDown = true
        const error = yield* Effect.flip(prices.latest([asset(1), asset(2)]))
        assert.strictEqual(error.message, "Prices are unavailable: down")
      })
    )
  )
})
