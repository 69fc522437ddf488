import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Layer, Redacted } from "effect"
import { type AssetId, type ChainId, type EvmAddress, erc20 } from "#domain/values/Caip.ts"
import { CoinGecko } from "#layers/market/CoinGecko.ts"
import { CoinGeckoConfig } from "#layers/market/CoinGeckoConfig.ts"
import { PriceSource } from "#layers/market/PriceSource.ts"

const base = 8453 as ChainId
const usdc = erc20(base, "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913" as EvmAddress)
const weth = erc20(base, "0x4200000000000000000000000000000000000006" as EvmAddress)
const addressOf = (assetId: AssetId) => assetId.slice(assetId.lastIndexOf(":") + 1).toLowerCase()

type Answer = { readonly status?: number; readonly body: unknown; readonly headers?: Record<string, string> }

/** Runs `body` against a server that gives these answers in turn, the last one for ever. */
const withAnswers = <A, E>(
  answers: ReadonlyArray<Answer>,
  body: (source: PriceSource["Service"], requests: ReadonlyArray<IncomingMessage>) => Effect.Effect<A, E>
) =>
  Effect.gen(function* () {
    const requests: Array<IncomingMessage> = []
    const server = createServer((request: IncomingMessage, response: ServerResponse) => {
      const answer = answers[Math.min(requests.length, answers.length - 1)]!
      requests.push(request)
      response.writeHead(answer.status ?? 200, { "content-type": "application/json", ...answer.headers })
      response.end(typeof answer.body === "string" ? answer.body : JSON.stringify(answer.body))
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
    return yield* Effect.flatMap(PriceSource, (source) => body(source, requests)).pipe(
      Effect.provide(CoinGecko.pipe(Layer.provide(config)))
    )
  }).pipe(Effect.scoped)

describe("CoinGecko", () => {
  it.live("reads prices exactly and drops rows that say nothing usable", () =>
    withAnswers(
      [
        {
          body: {
            [addressOf(usdc)]: { usd: 0.99991234567, last_updated_at: 1_700_000_000 },
            [addressOf(weth)]: { usd: null }
          }
        }
      ],
      (source, requests) =>
        Effect.gen(function* () {
          const prices = yield* source.fetch(base, [usdc, weth])
          assert.strictEqual(prices.size, 1)
          assert.strictEqual(prices.get(usdc)!.usd, 999_912_345_670_000_000n)
          assert.strictEqual(prices.get(usdc)!.asOf.epochMilliseconds, 1_700_000_000_000)
          const url = new URL(requests[0]!.url!, "http://coingecko")
          assert.strictEqual(url.pathname, "/api/v3/simple/token_price/base")
          assert.strictEqual(url.searchParams.get("contract_addresses"), `${addressOf(usdc)},${addressOf(weth)}`)
          assert.strictEqual(requests[0]!.headers["x-cg-demo-api-key"], "CG-secret")
        })
    )
  )

  it.live("dates no price ahead of the clock, and takes none without a time, at zero or below", () =>
    withAnswers(
      [
        {
          body: {
            [addressOf(usdc)]: { usd: 1e-7, last_updated_at: 99_999_999_999 },
            [addressOf(weth)]: { usd: 0, last_updated_at: 1 }
          }
        }
      ],
      (source) =>
        Effect.gen(function* () {
          const prices = yield* source.fetch(base, [usdc, weth])
          assert.strictEqual(prices.size, 1)
          assert.strictEqual(prices.get(usdc)!.usd, 100_000_000_000n)
          assert.isAtMost(prices.get(usdc)!.asOf.epochMilliseconds, yield* Clock.currentTimeMillis)
        })
    )
  )

  it.live("tries again once after a server's fault", () =>
    withAnswers(
      [{ status: 503, body: {} }, { body: { [addressOf(usdc)]: { usd: 1, last_updated_at: 1 } } }],
      (source, requests) =>
        Effect.gen(function* () {
          assert.strictEqual((yield* source.fetch(base, [usdc])).size, 1)
          assert.strictEqual(requests.length, 2)
        })
    )
  )

  it.live("gives up after the second failure and says why", () =>
    withAnswers([{ status: 500, body: "oops" }], (source, requests) =>
      Effect.gen(function* () {
        const error = yield* Effect.flip(source.fetch(base, [usdc]))
        assert.include(error.message, "CoinGecko answered 500")
        assert.strictEqual(requests.length, 2)
      })
    )
  )

  it.live("after a 429 sends nothing until the time that was asked for, and never waits", () =>
    withAnswers([{ status: 429, headers: { "retry-after": "60" }, body: {} }], (source, requests) =>
      Effect.gen(function* () {
        yield* Effect.flip(source.fetch(base, [usdc]))
        const error = yield* Effect.flip(source.fetch(base, [usdc]))
        assert.match(error.message, /rate limit is reached; the next request goes out in (59|60) s/)
        assert.strictEqual(requests.length, 1)
      })
    )
  )

  it.live("explains a refused key, without the key", () =>
    withAnswers([{ status: 401, body: { status: { error_code: 10_002 } } }], (source, requests) =>
      Effect.gen(function* () {
        const error = yield* Effect.flip(source.fetch(base, [usdc]))
        assert.include(error.message, "COINGECKO_API_KEY")
        assert.notInclude(error.message, "CG-secret")
        assert.strictEqual(requests.length, 1)
      })
    )
  )

  it.live("takes no answer that is not JSON of the expected form, is too long, or comes from elsewhere", () =>
    Effect.gen(function* () {
      for (const answer of [
        { body: "<html>" },
        { body: "[1,2]" },
        { body: `{"a":"${"x".repeat(5_000_000)}"}` },
        { status: 302, headers: { location: "http://127.0.0.1:9/" }, body: "" }
      ]) {
        yield* withAnswers([answer], (source) => Effect.flip(source.fetch(base, [usdc])))
      }
    })
  )

  it.live("finds the platform of a younger chain by its id", () =>
    withAnswers(
      [
        {
          body: [
            { id: "solana", chain_identifier: null },
            { id: "robinhood-chain", chain_identifier: 4663 }
          ]
        },
        { body: {} }
      ],
      (source, requests) =>
        Effect.gen(function* () {
          const chainId = 4663 as ChainId
          yield* source.fetch(chainId, [erc20(chainId, "0x0Bd7D308f8E1639FAb988df18A8011f41EAcAD73" as EvmAddress)])
          assert.deepStrictEqual(
            requests.map(({ url }) => url!.split("?")[0]),
            ["/api/v3/asset_platforms", "/api/v3/simple/token_price/robinhood-chain"]
          )
        })
    )
  )
})
