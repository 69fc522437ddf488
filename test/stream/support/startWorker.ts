/** A worker in this process on a port of its own, with a market that the test writes. */
import { NodeCrypto } from "@effect/platform-node"
import { Duration, Effect, Exit, Layer, Queue, Redacted, Result, Scope, Stream } from "effect"
import { IpNetwork } from "effect/net"
import type { IncomingHttpHeaders } from "node:http"
import { type ClientOptions, WebSocket } from "ws"
import type { Backplane } from "#domain/stream/Backplane.ts"
import { InternalToken, internalTokenHeader } from "#domain/stream/InternalToken.ts"
import type { FeedItem, MarketFeed } from "#domain/stream/MarketFeed.ts"
import { MarketFeeds } from "#domain/stream/MarketFeeds.ts"
import type { Provider } from "#domain/stream/PublicAsset.ts"
import { type TicketKey, TicketKeys } from "#domain/stream/TicketKeys.ts"
import { TrustedProxies } from "#domain/stream/TrustedProxies.ts"
import { WorkerSettings, type WorkerSettingsValue } from "#domain/stream/WorkerSettings.ts"
import { InProcessBackplane } from "#layers/stream/InProcessBackplane.ts"
import { SocketServer } from "#layers/stream/SocketServer.ts"
import { freePort } from "#sandbox/process/freePort.ts"
import { Worker, WorkerRoutes } from "#stream/Worker.ts"
import type { Hub } from "#stream/Hub.ts"

export const internalToken = "internal-token-of-the-tests"
export const secretOf = (id: string): TicketKey => ({
  id,
  secret: Redacted.make(`${id}-secret-of-at-least-32-characters`)
})

/** A provider that sends what the test sets. */
export class ScriptedFeed {
  readonly provider: Provider
  readonly #out: Array<Queue.Queue<ReadonlyArray<FeedItem>>> = []
  wanted: Effect.Effect<ReadonlyArray<{ symbol: string }>> = Effect.succeed([])

  constructor(provider: Provider) {
    this.provider = provider
  }

  get isRunning(): boolean {
    return this.#out.length > 0
  }

  send(items: ReadonlyArray<FeedItem>): void {
    for (const out of this.#out) Queue.offerUnsafe(out, items)
  }

  bar(symbol: string, startMs: number, price = 10): void {
    const figures = {
      kind: "ohlcv",
      open: price,
      high: price,
      low: price,
      close: price,
      volume: 1,
      vwap: null
    } as const
    this.send([Result.succeed({ symbol, figures: { ...figures, startMs, endMs: startMs + 1_000 } })])
  }

  quote(symbol: string, asOfMs: number, priceUsd = 10): void {
    const none = { change24hPct: null, volume24hUsd: null, marketCapUsd: null }
    this.send([Result.succeed({ symbol, figures: { kind: "quote", priceUsd, asOfMs, ...none } })])
  }

  get feed(): MarketFeed {
    return {
      provider: this.provider,
      isPolled: this.provider === "coingecko",
      figures: (wanted, report) =>
        Stream.unwrap(
          Effect.gen({ self: this }, function* () {
            const out = yield* Queue.unbounded<ReadonlyArray<FeedItem>>()
            this.#out.push(out)
            this.wanted = wanted
            report({ status: "connected", attempt: 0, nextAttemptAt: null, reason: null })
            yield* Effect.addFinalizer(() => Effect.sync(() => void this.#out.splice(this.#out.indexOf(out), 1)))
            return Stream.fromQueue(out)
          })
        )
    }
  }
}

export const assets = [
  { assetClass: "equity", provider: "massive", symbol: "TSLA" },
  { assetClass: "equity", provider: "massive", symbol: "AAPL" },
  { assetClass: "crypto", provider: "coingecko", symbol: "ETH", coingeckoId: "ethereum" },
  { assetClass: "crypto", provider: "coingecko", symbol: "BTC", coingeckoId: "bitcoin" }
] as const

export interface Options {
  readonly settings?: Partial<WorkerSettingsValue>
  readonly keys?: readonly [TicketKey, ...ReadonlyArray<TicketKey>]
  readonly proxies?: ReadonlyArray<string>
  readonly backplane?: Layer.Layer<Backplane, unknown>
  readonly registers?: boolean
  readonly heartbeatMs?: number
  /** Those that the deployment has keys for; all when left out. */
  readonly providers?: ReadonlyArray<Provider>
}

export const startWorker = async (options: Options = {}) => {
  const port = await Effect.runPromise(freePort)
  const url = `http://127.0.0.1:${port}`
  const massive = new ScriptedFeed("massive")
  const coingecko = new ScriptedFeed("coingecko")
  const settings: WorkerSettingsValue = {
    publicUrl: url,
    allowedOrigins: ["https://app.example"],
    ticketLifeSeconds: 300,
    ticketsPerMinute: 10_000,
    replayWindow: 50,
    bytesPerSocket: 65_536,
    maxSockets: 1_000,
    maxSocketsPerAddress: 1_000,
    lingerMs: 60_000,
    maxAssets: 100,
    ...options.settings
  }
  const worker = SocketServer(WorkerRoutes, {
    host: "127.0.0.1",
    port,
    heartbeat: Duration.millis(options.heartbeatMs ?? 20_000)
  }).pipe(
    Layer.provideMerge(Worker),
    Layer.provide(options.backplane ?? InProcessBackplane),
    Layer.provide([
      Layer.succeed(
        MarketFeeds,
        [massive, coingecko]
          .filter(({ provider }) => options.providers?.includes(provider) ?? true)
          .map(({ feed }) => feed)
      ),
      Layer.succeed(WorkerSettings, settings),
      Layer.succeed(TicketKeys, options.keys ?? [secretOf("first")]),
      Layer.succeed(InternalToken, Redacted.make(internalToken)),
      Layer.succeed(TrustedProxies, (options.proxies ?? []).map(IpNetwork.fromStringUnsafe))
    ]),
    Layer.provide(NodeCrypto.layer)
  )
  const scope = await Effect.runPromise(Scope.make())
  const services = await Effect.runPromise(Layer.buildWithScope(worker as Layer.Layer<Hub, unknown>, scope))
  const call = async (path: string, init: RequestInit = {}) => {
    const response = await fetch(`${url}${path}`, init)
    const text = await response.text()
    return { status: response.status, headers: response.headers, body: JSON.parse(text || "null") as any }
  }
  const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    call(path, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(body)
    })
  const internal = (path: string, body: unknown) => post(path, body, { [internalTokenHeader]: internalToken })
  if (options.registers !== false) await internal("/internal/public-registry/assets/upsert", { assets })
  return {
    url,
    massive,
    coingecko,
    services,
    call,
    post,
    internal,
    internalGet: (path: string) => call(path, { headers: { [internalTokenHeader]: internalToken } }),
    ticket: async (target: unknown) => (await post("/v1/tickets", target)).body as { token: string; topics: string[] },
    stop: () => Effect.runPromise(Scope.close(scope, Exit.void))
  }
}

/** A real client's socket with everything that it was sent. */
export const openSocket = (
  url: string,
  { path, query }: { readonly path: string; readonly query: Record<string, string> },
  {
    headers = {},
    options = {}
  }: { readonly headers?: Record<string, string> | undefined; readonly options?: ClientOptions | undefined } = {}
) => {
  const socket = new WebSocket(`${url}${path}?${new URLSearchParams(query)}`, { ...options, headers })
  const frames: Array<any> = []
  const events: Array<any> = []
  const waiting = new Set<() => void>()
  let end: { readonly code: number; readonly reason: string } | undefined
  let refusal: { readonly status: number; readonly headers: IncomingHttpHeaders; readonly body: any } | undefined
  const changed = () => waiting.forEach((check) => check())
  socket.on("message", (data) => {
    const frame = JSON.parse(data.toString())
    frames.push(frame)
    if (frame.type === "event") events.push(frame)
    changed()
  })
  socket.on("close", (code, reason) => {
    end = { code, reason: reason.toString() }
    changed()
  })
  socket.on("error", () => {})
  socket.on("unexpected-response", (_, response) => {
    let text = ""
    response.on("data", (chunk) => (text += chunk))
    response.on("end", () => {
      refusal = { status: response.statusCode ?? 0, headers: response.headers, body: JSON.parse(text || "null") }
      changed()
    })
  })
  const until = <A>(read: () => A | undefined): Promise<A> =>
    new Promise((resolve) => {
      const check = () => {
        const value = read()
        if (value === undefined) return
        waiting.delete(check)
        resolve(value)
      }
      waiting.add(check)
      check()
    })
  return {
    socket,
    frames,
    events: () => events,
    until: (isThere: () => boolean) => until(() => (isThere() ? true : undefined)),
    closed: () => until(() => end),
    refused: () => until(() => refusal)
  }
}
