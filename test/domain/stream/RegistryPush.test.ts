/** The API keeps the worker's registry as the catalogue has it. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { MarketDataStream, MarketDataStreamFailed } from "#domain/stream/MarketDataStream.ts"
import { maxUpsert, type PublicAsset } from "#domain/stream/PublicAsset.ts"
import { PublicAssets } from "#domain/stream/PublicAssets.ts"
import { RegistryPush } from "#domain/stream/RegistryPush.ts"

const coin = (symbol: string, coingeckoId = symbol.toLowerCase()): PublicAsset => ({
  assetClass: "crypto",
  provider: "coingecko",
  symbol,
  coingeckoId
})

/** A worker that keeps what it receives, and may be away or lose it. */
const makeWorker = () => {
  const known = new Map<string, PublicAsset>()
  const calls: Array<ReadonlyArray<string>> = []
  const worker = { known, calls, isAway: false }
  const unless = <A>(effect: Effect.Effect<A>) =>
    Effect.suspend(() =>
      worker.isAway
        ? Effect.fail(new MarketDataStreamFailed({ reason: "away", isOurs: true }))
        : (effect as Effect.Effect<A, MarketDataStreamFailed>)
    )
  const layer = Layer.mock(MarketDataStream, {
    registered: unless(Effect.sync(() => [...known.values()])),
    upsert: (assets) =>
      unless(
        Effect.sync(() => {
          calls.push(assets.map(({ symbol }) => symbol))
          for (const asset of assets) known.set(asset.symbol, asset)
        })
      )
  })
  return { worker, layer }
}

describe("the registry of the stream worker", () => {
  it.effect("receives the catalogue at the start, what changes, and all of it after a loss or an outage", () =>
    Effect.gen(function* () {
      const { layer, worker } = makeWorker()
      let catalogue: ReadonlyArray<PublicAsset> = [coin("ETH"), coin("BTC")]
      worker.isAway = true
      const assets = Layer.succeed(PublicAssets, { all: Effect.sync(() => catalogue) })
      yield* Layer.build(RegistryPush.pipe(Layer.provide([layer, assets])))
      const poll = TestClock.adjust("3 seconds")
      yield* poll
      assert.deepStrictEqual(worker.calls, [])
      worker.isAway = false
      yield* poll
      assert.deepStrictEqual(worker.calls, [["ETH", "BTC"]])
      yield* poll
      assert.lengthOf(worker.calls, 1)
      catalogue = [coin("ETH", "ethereum"), coin("BTC"), coin("UNI")]
      yield* poll
      assert.deepStrictEqual(worker.calls.at(-1), ["ETH", "UNI"])
      worker.known.clear()
      yield* poll
      assert.deepStrictEqual(worker.calls.at(-1), ["ETH", "BTC", "UNI"])
    }).pipe(Effect.scoped)
  )

  it.effect("receives portions that it takes", () =>
    Effect.gen(function* () {
      const { layer, worker } = makeWorker()
      const all = Array.from({ length: maxUpsert + 1 }, (_, index) => coin(`C${index}`))
      const assets = Layer.succeed(PublicAssets, { all: Effect.succeed(all) })
      yield* Layer.build(RegistryPush.pipe(Layer.provide([layer, assets])))
      yield* TestClock.adjust("1 millis")
      assert.deepStrictEqual(
        worker.calls.map((call) => call.length),
        [maxUpsert, 1]
      )
    }).pipe(Effect.scoped)
  )
})
