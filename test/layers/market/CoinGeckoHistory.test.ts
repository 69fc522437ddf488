import { createServer, type IncomingMessage } from "node:http"
import type { AddressInfo } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Layer, Redacted } from "effect"
import { type ChainId, type EvmAddress, erc20 } from "#domain/values/Caip.ts"
import * as Day from "#domain/values/Day.ts"
import { PriceHistory } from "#domain/market/PriceHistory.ts"
import { CoinGeckoConfig } from "#layers/market/CoinGeckoConfig.ts"
import { CoinGeckoHistory } from "#layers/market/CoinGeckoHistory.ts"

const weth = erc20(8453 as ChainId, "0x4200000000000000000000000000000000000006" as EvmAddress)
const dayMs = 86_400_000

type Answer = { readonly status?: number; readonly body: unknown }

/**
 * Asks for 30 days of WETH from a server that gives this answer; the second argument of `body` is what it was asked.
 */
const withAnswer = <A, E>(
  answer: (today: Day.Day) => Answer,
  body: (source: PriceHistory["Service"], requests: ReadonlyArray<IncomingMessage>) => Effect.Effect<A, E>
) =>
  Effect.gen(function* () {
    const today = Day.of(yield* DateTime.now)
    const requests: Array<IncomingMessage> = []
    const server = createServer((request, response) => {
      requests.push(request)
      const { body: text, status = 200 } = answer(today)
      response.writeHead(status, { "content-type": "application/json" })
      response.end(JSON.stringify(text))
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
      apiKey: Redacted.make("CG-secret"),
      plan: "demo"
    })
    return yield* Effect.flatMap(PriceHistory, (source) => body(source, requests)).pipe(
      Effect.provide(CoinGeckoHistory.pipe(Layer.provide(config)))
    )
  }).pipe(Effect.scoped)

const at = (day: number, afterMs = 0) => day * dayMs + afterMs

describe("CoinGeckoHistory", () => {
  it.live("reads one exact price a day, the first of each", () =>
    withAnswer(
      (today) => ({
        body: {
          prices: [
            [at(today - 2), 2500.123456789012],
            [at(today - 1, 60_000), 1e-7],
            [at(today - 1), 2.5e21],
            [at(today), 3],
            [at(today, 5_000), 4]
          ],
          market_caps: [[at(today), null]],
          total_volumes: []
        }
      }),
      (source, requests) =>
        Effect.gen(function* () {
          const today = Day.of(yield* DateTime.now)
          assert.deepStrictEqual(yield* source.daily(weth, 30), [
            { day: Day.add(today, -2), usd: 2_500_123_456_789_012_000_000n },
            { day: Day.add(today, -1), usd: 2_500_000_000_000_000_000_000n * 10n ** 18n },
            { day: today, usd: 3_000_000_000_000_000_000n }
          ])
          const url = new URL(requests[0]!.url!, "http://coingecko")
          assert.strictEqual(
            url.pathname,
            "/api/v3/coins/base/contract/0x4200000000000000000000000000000000000006/market_chart"
          )
          assert.deepStrictEqual(Object.fromEntries(url.searchParams), {
            vs_currency: "usd",
            days: "30",
            interval: "daily",
            precision: "full"
          })
          assert.strictEqual(requests[0]!.headers["x-cg-demo-api-key"], "CG-secret")
        })
    )
  )

  it.live("drops points that say nothing usable, lie ahead or before what was asked for", () =>
    withAnswer(
      (today) => ({
        body: {
          prices: [
            [at(today - 31), 1],
            [at(today - 5), null],
            [at(today - 4), 0],
            [at(today - 3), -1],
            ["yesterday", 1],
            [at(today - 2)],
            "nonsense",
            [at(today + 1), 1],
            [1e300, 1],
            [at(today), 7]
          ]
        }
      }),
      (source) =>
        Effect.gen(function* () {
          const today = Day.of(yield* DateTime.now)
          assert.deepStrictEqual(yield* source.daily(weth, 30), [{ day: today, usd: 7_000_000_000_000_000_000n }])
        })
    )
  )

  it.live("an asset that CoinGecko does not know has no history", () =>
    withAnswer(
      () => ({ status: 404, body: { error: "coin not found" } }),
      (source, requests) =>
        Effect.gen(function* () {
          assert.deepStrictEqual(yield* source.daily(weth, 30), [])
          assert.lengthOf(requests, 1)
        })
    )
  )

  it.live("a refusal, a fault and an answer of another form are failures", () =>
    Effect.gen(function* () {
      for (const answer of [
        { status: 401, body: { status: { error_code: 10_012 } } },
        { status: 429, body: {} },
        { status: 500, body: {} },
        { body: { prices: "none" } },
        { body: { prices: Array.from({ length: 20_001 }, () => [1, 1]) } }
      ]) {
        const error = yield* withAnswer(
          () => answer,
          (source) => Effect.flip(source.daily(weth, 30))
        )
        assert.strictEqual(error._tag, "PricesUnavailable")
      }
    })
  )
})
