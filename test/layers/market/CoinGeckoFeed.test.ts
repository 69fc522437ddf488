/** Quotes by polling, against a server that answers as CoinGecko does, with and without its faults. */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Redacted, Result, Stream } from "effect"
import type { FeedItem, FeedState } from "#domain/stream/MarketFeed.ts"
import type { PublicAsset } from "#domain/stream/PublicAsset.ts"
import { CoinGeckoClient } from "#layers/market/CoinGeckoClient.ts"
import { CoinGeckoConfig } from "#layers/market/CoinGeckoConfig.ts"
import { makeCoinGeckoFeed } from "#layers/market/CoinGeckoFeed.ts"

const pollMs = 20
const coin = (symbol: string, coingeckoId: string): PublicAsset => ({
  assetClass: "crypto",
  provider: "coingecko",
  symbol,
  coingeckoId
})
const row = { usd: 2_500.5, usd_market_cap: 1e12, usd_24h_vol: 3, usd_24h_change: -1.5, last_updated_at: 1_800_000_000 }

/** What the server does with a request for these coins: a body and a status, or it ends the connection. */
type Answer = (ids: ReadonlyArray<string>) => { readonly status?: number; readonly body: unknown } | "cut"
const rows: Answer = (ids) => ({ body: Object.fromEntries(ids.map((id) => [id, row])) })

const running = Effect.fnUntraced(function* () {
  const requests: Array<{ readonly ids: ReadonlyArray<string>; readonly key: unknown }> = []
  const items: Array<FeedItem> = []
  const states: Array<FeedState> = []
  const world = { answer: rows, wanted: [] as ReadonlyArray<PublicAsset> }
  const server = createServer((request, response) => {
    const { searchParams } = new URL(request.url!, "http://coingecko")
    const ids = (searchParams.get("ids") ?? "").split(",")
    requests.push({ ids, key: request.headers["x-cg-demo-api-key"] })
    const answer = world.answer(ids)
    if (answer === "cut") return void request.socket.destroy()
    response.writeHead(answer.status ?? 200, { "content-type": "application/json" }).end(JSON.stringify(answer.body))
  })
  yield* Effect.acquireRelease(
    Effect.promise(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))),
    () =>
      Effect.promise(() => {
        server.closeAllConnections()
        return new Promise((resolve) => server.close(resolve))
      })
  )
  const config = Layer.succeed(CoinGeckoConfig, {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v3`,
    apiKey: Redacted.make("CG-key"),
    plan: "demo"
  })
  const feed = yield* makeCoinGeckoFeed(pollMs).pipe(Effect.provide(CoinGeckoClient.layer.pipe(Layer.provide(config))))
  yield* feed
    .figures(
      Effect.sync(() => world.wanted),
      (state) => states.push(state)
    )
    .pipe(
      Stream.runForEach((batch) => Effect.sync(() => items.push(...batch))),
      Effect.forkScoped
    )
  return { world, requests, items, states }
})

const until = (isThere: () => boolean): Effect.Effect<void> =>
  Effect.suspend(() => (isThere() ? Effect.void : Effect.andThen(Effect.sleep("5 millis"), until(isThere))))

const symbolsOf = (items: ReadonlyArray<FeedItem>) =>
  items.map((item) => Result.merge(Result.map(item, ({ symbol }) => symbol)))

describe("the feed of coins", () => {
  it.live("asks for all coins that are followed in one request, as they change, and for nothing while none is", () =>
    Effect.gen(function* () {
      const { items, requests, states, world } = yield* running()
      yield* until(() => states.some(({ reason }) => reason === "nothing is followed"))
      yield* Effect.sleep("100 millis")
      assert.lengthOf(requests, 0)
      world.wanted = [coin("ETH", "ethereum"), coin("BTC", "bitcoin"), coin("WETH", "ethereum")]
      yield* until(() => requests.length >= 2 && items.length >= 6)
      assert.deepStrictEqual(requests[0], { ids: ["ethereum", "bitcoin"], key: "CG-key" })
      assert.deepStrictEqual(symbolsOf(items.slice(0, 3)), ["ETH", "BTC", "WETH"])
      assert.deepStrictEqual(Result.getOrThrow(items[0]!), {
        symbol: "ETH",
        figures: {
          kind: "quote",
          priceUsd: 2_500.5,
          change24hPct: -1.5,
          volume24hUsd: 3,
          marketCapUsd: 1e12,
          asOfMs: 1_800_000_000_000
        }
      })
      assert.deepInclude(states.at(-1), { status: "connected", attempt: 0 })
      world.wanted = [coin("BTC", "bitcoin")]
      yield* until(() => requests.at(-1)?.ids.join() === "bitcoin")
    }).pipe(Effect.scoped)
  )

  it.live("splits more coins than an address line includes", () =>
    Effect.gen(function* () {
      const { items, requests, world } = yield* running()
      world.wanted = Array.from({ length: 600 }, (_, index) => coin(`C${index}`, `coin-${index}`))
      yield* until(() => items.length >= 600)
      assert.deepStrictEqual(
        requests.slice(0, 3).map(({ ids }) => ids.length),
        [250, 250, 100]
      )
    }).pipe(Effect.scoped)
  )

  it.live(
    "drops rows without the shape of a quote, reads those beside them, and passes over coins that are not known",
    () =>
      Effect.gen(function* () {
        const { items, world } = yield* running()
        world.answer = () => ({ body: { ethereum: { usd: "2500" }, bitcoin: row } })
        world.wanted = [coin("ETH", "ethereum"), coin("BTC", "bitcoin"), coin("NEW", "unknown-coin")]
        yield* until(() => items.length >= 2)
        assert.deepStrictEqual(symbolsOf(items.slice(0, 2)), ["malformed", "BTC"])
      }).pipe(Effect.scoped)
  )

  it.live.each([
    ["answers an error", (): ReturnType<Answer> => ({ status: 500, body: {} }), "500"],
    ["ends the connection", (): ReturnType<Answer> => "cut", "cannot be reached"],
    ["answers what is no JSON object", (): ReturnType<Answer> => ({ body: [1, 2] }), "not readable"],
    ["refuses the key", (): ReturnType<Answer> => ({ status: 401, body: {} }), "COINGECKO_API_KEY"]
  ] as const)(
    "when CoinGecko %s, says so, waits longer after each failure, and goes on when it is well",
    ([, answer, reason]) =>
      Effect.gen(function* () {
        const { items, states, world } = yield* running()
        world.answer = answer
        world.wanted = [coin("ETH", "ethereum")]
        yield* until(() => states.some(({ attempt }) => attempt >= 2))
        const failure = states.find(({ status }) => status === "error")
        assert.include(failure?.reason, reason)
        assert.isNumber(failure?.nextAttemptAt)
        assert.lengthOf(items, 0)
        world.answer = rows
        yield* until(() => items.length >= 1)
        yield* until(() => states.at(-1)?.status === "connected")
        assert.deepInclude(states.at(-1), { attempt: 0, reason: null, nextAttemptAt: null })
      }).pipe(Effect.scoped)
  )
})
