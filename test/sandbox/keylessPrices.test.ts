/** The service's prices of CoinGecko without a key, against the world's stand-in and a plan that takes a few tokens. */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { NodeHttpServer } from "@effect/platform-node"
import { assert, it } from "@effect/vitest"
import { Clock, Effect, Layer, Redacted } from "effect"
import { HttpRouter, HttpServer } from "effect/http"
import { type AssetId, ChainId } from "#domain/values/Caip.ts"
import { PriceLimits } from "#domain/market/PriceLimits.ts"
import { CoinGecko } from "#layers/market/CoinGecko.ts"
import { CoinGeckoConfig } from "#layers/market/CoinGeckoConfig.ts"
import { PriceSource } from "#layers/market/PriceSource.ts"
import { catalog } from "#sandbox/assets/catalog.ts"
import { PriceBook } from "#sandbox/assets/PriceBook.ts"
import { WorldChains } from "#sandbox/chain/SandboxChains.ts"
import { Faults } from "#sandbox/faults/Faults.ts"
import { coingecko } from "#sandbox/market/coingecko.ts"
import { ApiProcess } from "#sandbox/service/ApiProcess.ts"
import { WorldClock } from "#sandbox/WorldClock.ts"

const [chain] = catalog
const key = "CG-of-the-world"

const Served = HttpRouter.serve(coingecko, { disableLogger: true, disableListenLog: true }).pipe(
  Layer.provideMerge(NodeHttpServer.layer(createServer, { port: 0, host: "127.0.0.1" })),
  Layer.provideMerge(
    Layer.mergeAll(
      Layer.mock(WorldClock, { read: Effect.map(Clock.currentTimeMillis, (now) => ({ now, version: 1 })) }),
      Layer.mock(WorldChains, { all: [], find: () => undefined, prices: new PriceBook() }),
      Layer.mock(ApiProcess, { logFile: "", environment: { COINGECKO_API_KEY: key } }),
      Faults.layer
    )
  )
)

interface Asked {
  readonly found: ReadonlyArray<AssetId>
  readonly batchSize: number
  readonly reason: string | undefined
}

/** All tokens of the chain in one call, at a CoinGecko. */
const askAll = (baseUrl: string, apiKey: string | null) =>
  Effect.gen(function* () {
    const source = yield* PriceSource
    const prices = yield* source.fetch(
      ChainId.make(chain!.chainId),
      chain!.tokens.map(({ assetId }) => assetId)
    )
    const { batchSize } = yield* source.terms
    const limit = yield* (yield* PriceLimits).current
    return { found: [...prices.keys()], batchSize, reason: limit?.reason } satisfies Asked
  }).pipe(
    Effect.provide(
      CoinGecko.pipe(
        Layer.provideMerge(PriceLimits.layer),
        Layer.provide(
          Layer.succeed(CoinGeckoConfig, {
            baseUrl,
            apiKey: apiKey === null ? null : Redacted.make(apiKey),
            plan: "demo"
          })
        )
      )
    )
  )

it.live("without a key every token has its price all the same, by a request each, and the reason is CoinGecko's", () =>
  Effect.gen(function* () {
    const { address } = yield* HttpServer.HttpServer
    const baseUrl = `http://127.0.0.1:${"port" in address ? address.port : 0}/coingecko/api/v3`
    const keyless = yield* askAll(baseUrl, null)
    assert.lengthOf(keyless.found, chain!.tokens.length)
    assert.strictEqual(keyless.batchSize, 1)
    assert.match(keyless.reason!, /exceeds the allowed limit of 1 contract address.*COINGECKO_API_KEY/u)
    const keyed = yield* askAll(baseUrl, key)
    assert.lengthOf(keyed.found, chain!.tokens.length)
    assert.strictEqual(keyed.reason, undefined)
  }).pipe(Effect.provide(Served))
)

it.live("a plan that takes a few tokens a request is asked for as many, and its words contain no key", () =>
  Effect.gen(function* () {
    const sizes: Array<number> = []
    const server = createServer((request, response) => {
      const asked = new URL(request.url!, "http://coingecko").searchParams.get("contract_addresses")!.split(",")
      sizes.push(asked.length)
      const isRefused = asked.length > 2
      response.writeHead(isRefused ? 400 : 200, { "content-type": "application/json" })
      response.end(
        JSON.stringify(
          isRefused
            ? { status: { error_code: 10_012, error_message: `Too\nmany for ${key}` } }
            : Object.fromEntries(asked.map((address) => [address, { usd: 1, last_updated_at: 1 }]))
        )
      )
    })
    yield* Effect.acquireRelease(
      Effect.promise(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))),
      () => Effect.promise(() => new Promise((resolve) => server.close(resolve)))
    )
    const { port } = server.address() as AddressInfo
    const asked = yield* askAll(`http://127.0.0.1:${port}/api/v3`, key)
    assert.lengthOf(asked.found, chain!.tokens.length)
    assert.isAtMost(asked.batchSize, 2)
    assert.include(asked.reason!, `CoinGecko answered 400: "Too many for …"`)
    // Only the first part is tried out; what is left is asked for in parts of the size that was taken.
    assert.strictEqual(sizes.filter((size) => size > 2).length, Math.ceil(Math.log2(chain!.tokens.length / 2)))
  }).pipe(Effect.scoped)
)
