/**
 * The public procedures over real adapters, the stand-ins of the sandbox behind them over HTTP, and an embedded
 * database: what a deployment has, but for the rest of the API. Time moves when a test says so.
 */
import { createServer } from "node:http"
import { NodeHttpServer } from "@effect/platform-node"
import { Clock, Context, Effect, Layer, Redacted } from "effect"
import { HttpEffect, HttpRouter, HttpServer } from "effect/http"
import { Orders } from "#domain/order/Orders.ts"
import { IssuerQuotes } from "#domain/order/IssuerQuotes.ts"
import { Members } from "#domain/identity/Members.ts"
import { OwnKeys } from "#domain/identity/OwnKeys.ts"
import { Sessions } from "#domain/identity/Sessions.ts"
import { SignIns } from "#domain/identity/SignIns.ts"
import { SignInSettings } from "#domain/identity/SignInSettings.ts"
import { OperatorToken } from "#domain/identity/OperatorToken.ts"
import { AssetBrowsing } from "#domain/listing/AssetBrowsing.ts"
import { AssetIndex } from "#domain/listing/AssetIndex.ts"
import { AssetProfiles } from "#domain/listing/AssetProfiles.ts"
import { AssetSearch } from "#domain/listing/AssetSearch.ts"
import { CountryHeader } from "#domain/listing/CountryHeader.ts"
import { CryptoMarketData } from "#domain/marketData/CryptoMarketData.ts"
import { MarketDataAccess } from "#domain/marketData/MarketDataAccess.ts"
import { MarketDataCache } from "#domain/marketData/MarketDataCache.ts"
import { MarketDataRefresh } from "#domain/marketData/MarketDataRefresh.ts"
import { RateLimits } from "#domain/request/RateLimits.ts"
import { RateLimitSettings } from "#domain/request/RateLimitSettings.ts"
import { MarketDataStream } from "#domain/stream/MarketDataStream.ts"
import { routerConfig } from "#http/routerSettings.ts"
import { LoadCatalogue } from "#layers/catalogue/LoadCatalogue.ts"
import { IssuerPoliciesLive } from "#layers/catalogue/IssuerPoliciesLive.ts"
import { SubjectFactsLive } from "#layers/catalogue/SubjectFactsLive.ts"
import { CoinGeckoConfig } from "#layers/market/CoinGeckoConfig.ts"
import { MarketDataConfig, MarketDataJobsLive } from "#layers/market/MarketDataJobsLive.ts"
import { ProcedureRoutes } from "#rpc/Procedures.ts"
import { Faults } from "#sandbox/faults/Faults.ts"
import { coinbase } from "#sandbox/market/coinbase.ts"
import { xstocks } from "#sandbox/market/xstocks.ts"
import { coingecko } from "#sandbox/market/coingecko.ts"
import { massiveRest } from "#sandbox/market/massiveRest.ts"
import { PriceBook } from "#sandbox/assets/PriceBook.ts"
import { ApiProcess } from "#sandbox/service/ApiProcess.ts"
import { StreamProcess } from "#sandbox/service/StreamProcess.ts"
import { WorldChains } from "#sandbox/chain/SandboxChains.ts"
import { WorldClock } from "#sandbox/WorldClock.ts"
import { MovableClock } from "#test/support/MovableClock.ts"
import { NoExecutions } from "#test/rpc/support/NoExecutions.ts"
import { TestStores } from "#test/support/database.ts"
import { nothingRefused } from "#test/support/nothingRefused.ts"

const coinGeckoKey = "CG-of-the-world"
const massiveKey = "massive-of-the-world"

export interface ProcedureAnswer {
  readonly status: number
  readonly text: string
  readonly body: any
}

export interface CallOptions {
  readonly headers?: Readonly<Record<string, string>>
}

export class MarketApi extends Context.Service<
  MarketApi,
  {
    /** POST with `{"json": input}`, or with the text when `input` is one. */
    readonly call: (procedure: string, input?: unknown, options?: CallOptions) => Effect.Effect<ProcedureAnswer>
    /** GET with the same in the query. */
    readonly get: (procedure: string, input?: unknown) => Effect.Effect<ProcedureAnswer>
    /** What the procedure answers; fails the test when it refuses. */
    readonly ask: (procedure: string, input?: unknown, options?: CallOptions) => Effect.Effect<any>
    /** The web handler of all procedures, for other wires. */
    readonly handle: (request: Request) => Promise<Response>
    /** Fetches all that is due, and brings memory up to date. */
    readonly refresh: Effect.Effect<void>
  }
>()("ballast/test/rpc/MarketApi") {}

const World = Layer.mergeAll(
  Layer.mock(WorldClock, { read: Effect.map(Clock.currentTimeMillis, (now) => ({ now, version: 1 })) }),
  Layer.mock(WorldChains, { all: [], find: () => undefined, prices: new PriceBook() }),
  Layer.mock(ApiProcess, { logFile: "", environment: { COINGECKO_API_KEY: coinGeckoKey } }),
  Layer.mock(StreamProcess, { massiveKey, logFile: "" })
)

const StandIns = HttpRouter.serve(Layer.mergeAll(coingecko, massiveRest, coinbase, xstocks), {
  disableLogger: true,
  disableListenLog: true
}).pipe(Layer.provideMerge(NodeHttpServer.layer(createServer, { port: 0, host: "127.0.0.1" })), Layer.provide(World))

const Configured = (access: MarketDataAccess["Service"], perMinute: number) =>
  Layer.unwrap(
    Effect.map(HttpServer.HttpServer, ({ address }) => {
      const base = `http://127.0.0.1:${"port" in address ? address.port : 0}`
      return Layer.mergeAll(
        Layer.succeed(CoinGeckoConfig, {
          baseUrl: `${base}/coingecko/api/v3`,
          apiKey: Redacted.make(coinGeckoKey),
          plan: access.coinGecko === "paid" ? "pro" : "demo"
        }),
        Layer.succeed(MarketDataConfig, {
          massive: access.massive ? { baseUrl: `${base}/massive`, apiKey: Redacted.make(massiveKey) } : null,
          coinbaseUrl: access.coinbase ? `${base}/coinbase` : null,
          xStocksUrl: access.xstocks ? `${base}/xstocks/api/v2` : null,
          perMinute: { coingecko: perMinute, massive: perMinute, coinbase: perMinute, xstocks: perMinute }
        }),
        Layer.succeed(MarketDataAccess, access),
        Layer.succeed(CountryHeader, { country: "x-country-code", region: "x-region-code" })
      )
    })
  )

const server = Layer.effect(
  MarketApi,
  Effect.gen(function* () {
    const cache = yield* MarketDataCache
    const index = yield* AssetIndex
    const clock = yield* MovableClock
    const { tick } = yield* MarketDataRefresh
    const httpEffect = yield* HttpRouter.toHttpEffect(ProcedureRoutes.pipe(Layer.provide(nothingRefused)))
    const handle = HttpEffect.toWebHandlerWith(yield* Effect.context<never>())(
      httpEffect as typeof httpEffect & Effect.Effect<never>
    )
    const answered = (request: () => Request) =>
      Effect.promise(async (): Promise<ProcedureAnswer> => {
        const response = await handle(request())
        const text = await response.text()
        const isJson = response.headers.get("content-type")?.startsWith("application/json") === true
        return { status: response.status, text, body: isJson ? JSON.parse(text) : undefined }
      })
    const url = (procedure: string) => `http://api.test/v1/rpc/${procedure}`

    const call = (procedure: string, input?: unknown, { headers }: CallOptions = {}) =>
      answered(
        () =>
          new Request(url(procedure), {
            method: "POST",
            headers: { "content-type": "application/json", ...headers },
            body: typeof input === "string" ? input : JSON.stringify({ json: input })
          })
      )
    const get = (procedure: string, input?: unknown) =>
      answered(() => new Request(`${url(procedure)}?input=${encodeURIComponent(JSON.stringify({ json: input }))}`))

    const load = Effect.andThen(cache.load, index.load)
    yield* load
    return MarketApi.of({
      call,
      get,
      handle,
      ask: (procedure, input, options) =>
        Effect.flatMap(call(procedure, input, options), ({ body, status, text }) =>
          status === 200
            ? Effect.succeed(body.result.data.json)
            : Effect.die(new Error(`${procedure}: ${status} ${text}`))
        ),
      refresh: Effect.gen(function* () {
        // Past the pause between two reads of the index.
        clock.advance(20_000)
        yield* tick
        yield* load
      })
    })
  })
  // Paths mean exactly what they say, as in the server.
).pipe(Layer.provide(Layer.succeed(HttpRouter.RouterConfig, routerConfig)))

/** Most calls of a test in a minute. */
export const callLimit = 1_000
export const TestLimits = RateLimits.layerMemory.pipe(
  Layer.provide(
    Layer.succeed(RateLimitSettings, { global: callLimit, critical: callLimit, general: callLimit, burst: callLimit })
  )
)

const all: MarketDataAccess["Service"] = { coinGecko: "demo", massive: true, coinbase: true, xstocks: true }

/**
 * A deployment with access to the providers; nothing is fetched before a test asks for it, and then no more than
 * `perMinute` of each provider, the most needed first.
 */
export const makeMarketApi = (access: MarketDataAccess["Service"] = all, perMinute = 24) =>
  server.pipe(
    Layer.provide(
      Layer.mergeAll(
        AssetBrowsing.layer,
        AssetSearch.layer,
        AssetProfiles.layer,
        CryptoMarketData.layer,
        MarketDataRefresh.layer.pipe(Layer.provide(MarketDataJobsLive)),
        Layer.mock(MarketDataStream, {}),
        Layer.mock(Orders, {}),
        Layer.mock(IssuerQuotes, {}),
        Layer.mock(SignIns, {}),
        Layer.mock(Sessions, {}),
        Layer.mock(Members, {}),
        Layer.mock(OwnKeys, {}),
        Layer.succeed(SignInSettings, { origins: [], chainIds: [] }),
        OperatorToken.layer(null),
        NoExecutions,
        TestLimits
      )
    ),
    Layer.provideMerge(AssetIndex.layer),
    Layer.provideMerge(MarketDataCache.layer),
    Layer.provide(LoadCatalogue),
    Layer.provide([SubjectFactsLive, IssuerPoliciesLive(null)]),
    Layer.provide(Configured(access, perMinute)),
    Layer.provide(StandIns),
    Layer.provideMerge(Faults.layer),
    Layer.provideMerge(TestStores),
    Layer.provideMerge(MovableClock.layer)
  )
