/** The service's client of CoinGecko's histories against the world's stand-in, over HTTP. */
import { createServer } from "node:http"
import { NodeHttpServer } from "@effect/platform-node"
import { assert, it } from "@effect/vitest"
import { Clock, DateTime, Effect, Layer, Redacted } from "effect"
import { HttpRouter, HttpServer } from "effect/http"
import { type AssetId, type ChainId, type EvmAddress, erc20 } from "#domain/values/Caip.ts"
import * as Day from "#domain/values/Day.ts"
import * as Decimal from "#domain/values/Decimal.ts"
import { PriceHistory } from "#domain/market/PriceHistory.ts"
import { CoinGeckoConfig } from "#layers/market/CoinGeckoConfig.ts"
import { CoinGeckoHistory } from "#layers/market/CoinGeckoHistory.ts"
import { ApiProcess } from "#sandbox/service/ApiProcess.ts"
import { catalog } from "#sandbox/assets/catalog.ts"
import { coingecko } from "#sandbox/market/coingecko.ts"
import { Faults } from "#sandbox/faults/Faults.ts"
import { PriceBook } from "#sandbox/assets/PriceBook.ts"
import { WorldChains } from "#sandbox/chain/SandboxChains.ts"
import { WorldClock } from "#sandbox/WorldClock.ts"

const key = "CG-of-the-world"
const weth = catalog[0]!.weth
const unknown = erc20(8453 as ChainId, "0x52908400098527886E0F7030069857D2E4169EE7" as EvmAddress)

const World = Layer.mergeAll(
  Layer.mock(WorldClock, { read: Effect.map(Clock.currentTimeMillis, (now) => ({ now, version: 1 })) }),
  Layer.mock(WorldChains, { all: [], find: () => undefined, prices: new PriceBook() }),
  Layer.mock(ApiProcess, { logFile: "", environment: { COINGECKO_API_KEY: key } }),
  Faults.layer
)

const Served = HttpRouter.serve(coingecko, { disableLogger: true, disableListenLog: true }).pipe(
  Layer.provideMerge(NodeHttpServer.layer(createServer, { port: 0, host: "127.0.0.1" })),
  Layer.provideMerge(World)
)

const portOf = Effect.map(HttpServer.HttpServer, ({ address }) => ("port" in address ? address.port : 0))

/** The service's client, with the key of the world or another. */
const withClient = <A, E>(apiKey: string, body: (history: PriceHistory["Service"]) => Effect.Effect<A, E>) =>
  Effect.gen(function* () {
    const port = yield* portOf
    const config = Layer.succeed(CoinGeckoConfig, {
      baseUrl: `http://127.0.0.1:${port}/coingecko/api/v3`,
      apiKey: Redacted.make(apiKey),
      plan: "demo"
    })
    return yield* Effect.flatMap(PriceHistory, body).pipe(Effect.provide(CoinGeckoHistory.pipe(Layer.provide(config))))
  })

it.live("the service reads a year of the world's prices, and knows what is not to be had", () =>
  Effect.gen(function* () {
    const daily = (assetId: AssetId, days: number) => withClient(key, (history) => history.daily(assetId, days))
    const points = yield* daily(weth.assetId, 365)
    const today = Day.of(DateTime.makeUnsafe(yield* Clock.currentTimeMillis))
    assert.lengthOf(points, 365)
    assert.strictEqual(points[0]!.day, today - 364)
    assert.strictEqual(points.at(-1)!.day, today)
    assert.isTrue(points.every(({ usd }) => usd > 0n))
    const last = points.at(-1)!.usd
    assert.isTrue(last > 2400n * Decimal.one && last < 2600n * Decimal.one)
    assert.deepStrictEqual(yield* daily(weth.assetId, 365), points)
    assert.lengthOf(yield* daily(weth.assetId, 3), 3)
    assert.deepStrictEqual(yield* daily(unknown, 365), [])
  }).pipe(Effect.provide(Served))
)

it.live("the stand-in refuses what CoinGecko refuses", () =>
  Effect.gen(function* () {
    const tooFar = yield* Effect.flip(withClient(key, (history) => history.daily(weth.assetId, 366)))
    assert.include(tooFar.message, "401")
    const stranger = yield* Effect.flip(withClient("wrong", (history) => history.daily(weth.assetId, 30)))
    assert.include(stranger.message, "COINGECKO_API_KEY")
    yield* (yield* Faults).set("prices", { mode: "rate-limited", count: 1 })
    const limited = yield* Effect.flip(withClient(key, (history) => history.daily(weth.assetId, 30)))
    assert.include(limited.message, "429")
    const port = yield* portOf
    const chart = (query: string) =>
      Effect.promise(() =>
        fetch(
          `http://127.0.0.1:${port}/coingecko/api/v3/coins/base/contract/${weth.address.toUpperCase().replace("0X", "0x")}/market_chart?${query}`
        )
      )
    assert.strictEqual((yield* chart("vs_currency=usd")).status, 422)
    assert.strictEqual((yield* chart("vs_currency=eur&days=1")).status, 422)
    const answer = yield* chart("vs_currency=usd&days=1&interval=daily")
    const body = (yield* Effect.promise(() => answer.json())) as Record<string, ReadonlyArray<[number, number]>>
    assert.deepStrictEqual(Object.keys(body), ["prices", "market_caps", "total_volumes"])
    const [, price] = body["prices"]!.at(-1)!
    assert.strictEqual(price, 2500)
    assert.strictEqual(body["market_caps"]!.at(-1)![1], 2500 * 120_000_000)
  }).pipe(Effect.provide(Served))
)
