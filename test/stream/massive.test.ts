/** The feed of shares against a socket that speaks as Massive does. */
import { NodeCrypto } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit, Fiber, Layer, Redacted, Result, Stream } from "effect"
import type { FeedItem, FeedState } from "#domain/stream/MarketFeed.ts"
import { makeMassiveFeed, pauseAfter, MassiveConfig } from "#layers/market/massive/MassiveFeed.ts"
import { massiveKey, startMassive } from "#test/stream/support/massiveStandIn.ts"

const follow = (url: string, key: string, wanted: () => ReadonlyArray<string>) => {
  const items: Array<FeedItem> = []
  const states: Array<FeedState> = []
  const assets = Effect.sync(() =>
    wanted().map((symbol) => ({ assetClass: "equity" as const, provider: "massive" as const, symbol }))
  )
  const running = Effect.gen(function* () {
    const feed = yield* makeMassiveFeed
    yield* Stream.runForEach(
      feed.figures(assets, (state) => states.push(state)),
      (batch) => Effect.sync(() => items.push(...batch))
    )
  }).pipe(
    Effect.provide(Layer.merge(Layer.succeed(MassiveConfig, { url, apiKey: Redacted.make(key) }), NodeCrypto.layer))
  )
  const fiber = Effect.runFork(running)
  return { items, states, fiber, stop: () => Effect.runPromise(Fiber.interrupt(fiber)) }
}

const until = async (isThere: () => boolean) => {
  while (!isThere()) await new Promise((resolve) => setTimeout(resolve, 10))
}
const symbolsIn = (items: ReadonlyArray<FeedItem>) =>
  new Set(items.map((item) => Result.merge(Result.map(item, ({ symbol }) => symbol))))

describe("the feed of shares", () => {
  it("fetches what is followed and nothing else, as that changes", async () => {
    const massive = await startMassive(20)
    let wanted = ["TSLA"]
    const feed = follow(massive.url, massiveKey, () => wanted)
    await until(() => feed.items.length >= 3)
    assert.deepStrictEqual(symbolsIn(feed.items), new Set(["TSLA"]))
    wanted = ["AAPL"]
    await until(() => massive.channels().has("A.AAPL") && !massive.channels().has("A.TSLA"))
    await until(() => symbolsIn(feed.items).has("AAPL"))
    await feed.stop()
    await massive.stop()
  })

  it("connects again after a loss, and subscribes anew", async () => {
    const massive = await startMassive(20)
    const feed = follow(massive.url, massiveKey, () => ["TSLA"])
    await until(() => feed.items.length >= 2)
    massive.cut()
    await until(() => feed.states.some(({ attempt, status }) => status === "disconnected" && attempt === 1))
    const before = feed.items.length
    await until(() => feed.items.length > before + 2)
    assert.strictEqual(massive.connections(), 2)
    assert.deepInclude(feed.states.at(-1), { status: "connected", attempt: 0 })
    await feed.stop()
    await massive.stop()
  })

  it("does not try a refused key again", async () => {
    const massive = await startMassive(20)
    const feed = follow(massive.url, "another", () => ["TSLA"])
    const exit = await Effect.runPromise(Fiber.await(feed.fiber))
    assert.include(Exit.isFailure(exit) ? Cause.pretty(exit.cause) : "", "MASSIVE_API_KEY")
    assert.strictEqual(massive.connections(), 1)
    await massive.stop()
  })

  it("waits for the longest pause at once where another connection uses the key", async () => {
    const massive = await startMassive(20)
    const first = follow(massive.url, massiveKey, () => ["TSLA"])
    await until(() => first.items.length > 0)
    const second = follow(massive.url, massiveKey, () => ["TSLA"])
    await until(() => first.states.some(({ reason }) => reason === "another connection uses this key"))
    await until(() => second.items.length > 0)
    assert.strictEqual(massive.connections(), 2)
    await first.stop()
    await second.stop()
    await massive.stop()
    assert.isAtLeast(pauseAfter(1, true, 0), 15_000)
  })

  it("marks entries that do not have the shape of a bar, and reads those beside them", async () => {
    const massive = await startMassive(100_000)
    const feed = follow(massive.url, massiveKey, () => ["TSLA"])
    await until(() => massive.channels().size > 0)
    const bar = { ev: "A", sym: "TSLA", v: 1, o: 1, h: 1, l: 1, c: 1, s: 1_000, e: 2_000 }
    massive.sendRaw("not json")
    massive.sendRaw(JSON.stringify([{ ...bar, o: "NaN" }, bar, { ev: "A" }]))
    await until(() => feed.items.length === 4)
    assert.deepStrictEqual(
      feed.items.map((item) => Result.merge(Result.map(item, ({ figures }) => figures.kind))),
      ["malformed", "malformed", "ohlcv", "malformed"]
    )
    await feed.stop()
    await massive.stop()
  })

  it("pauses for twice as long after each loss, up to half a minute, with jitter", () => {
    assert.deepStrictEqual(
      [1, 2, 3, 7, 50].map((attempt) => [pauseAfter(attempt, false, 0), pauseAfter(attempt, false, 1)]),
      [
        [250, 500],
        [500, 1_000],
        [1_000, 2_000],
        [15_000, 30_000],
        [15_000, 30_000]
      ]
    )
  })
})
