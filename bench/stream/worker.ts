/** The worker itself, with its own gate, hub and sockets; only the provider is the benchmark's. */
import { NodeCrypto } from "@effect/platform-node"
import { Duration, Effect, Layer, Queue, Redacted, Result, Stream } from "effect"
import { InternalToken, internalTokenHeader } from "#domain/stream/InternalToken.ts"
import type { FeedItem, MarketFeed } from "#domain/stream/MarketFeed.ts"
import { MarketFeeds } from "#domain/stream/MarketFeeds.ts"
import { TicketKeys } from "#domain/stream/TicketKeys.ts"
import { TrustedProxies } from "#domain/stream/TrustedProxies.ts"
import { WorkerSettings } from "#domain/stream/WorkerSettings.ts"
import { InProcessBackplane } from "#layers/stream/InProcessBackplane.ts"
import { SocketServer } from "#layers/stream/SocketServer.ts"
import { freePort } from "#sandbox/process/freePort.ts"
import { serve } from "#bench/stream/serve.ts"
import { Worker, WorkerRoutes } from "#stream/Worker.ts"

const token = "internal-token-of-the-benchmark"
const port = await Effect.runPromise(freePort)
const url = `http://127.0.0.1:${port}`
const ticks = Effect.runSync(Queue.unbounded<ReadonlyArray<FeedItem>>())
const feed: MarketFeed = {
  provider: "coingecko",
  isPolled: true,
  figures: () => Stream.fromQueue(ticks)
}
const worker = SocketServer(WorkerRoutes, { host: "127.0.0.1", port, heartbeat: Duration.seconds(20) }).pipe(
  Layer.provide(Worker),
  Layer.provide([InProcessBackplane, Layer.succeed(MarketFeeds, [feed])]),
  Layer.provide([
    Layer.succeed(WorkerSettings, {
      publicUrl: url,
      allowedOrigins: [],
      ticketLifeSeconds: 3_600,
      ticketsPerMinute: 1_000,
      replayWindow: 10_000,
      bytesPerSocket: 262_144,
      maxSockets: 50_000,
      maxSocketsPerAddress: 50_000,
      lingerMs: 60_000,
      maxAssets: 100
    }),
    Layer.succeed(TicketKeys, [{ id: "bench", secret: Redacted.make("0123456789abcdef0123456789abcdef") }]),
    Layer.succeed(InternalToken, Redacted.make(token)),
    Layer.succeed(TrustedProxies, [])
  ]),
  Layer.provide(NodeCrypto.layer)
)
Effect.runFork(Layer.launch(worker))

const post = async (path: string, body: unknown): Promise<{ token: string }> => {
  for (;;) {
    const response = await fetch(`${url}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", [internalTokenHeader]: token },
      body: JSON.stringify(body)
    }).catch(() => undefined)
    if (response?.status === 200) return (await response.json()) as { token: string }
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
await post("/internal/public-registry/assets/upsert", {
  assets: [{ assetClass: "crypto", provider: "coingecko", symbol: "ETH", coingeckoId: "ethereum" }]
})
const ticket = await post("/v1/tickets", { kind: "asset", assetClass: "crypto", symbol: "ETH" })

const none = { change24hPct: null, volume24hUsd: null, marketCapUsd: null }
serve({
  port,
  path: `/v1/assets/crypto/ETH/quote/tick/ws?token=${ticket.token}`,
  publish: (messages) =>
    void Queue.offerUnsafe(
      ticks,
      messages.map(({ atMicros, index }) =>
        Result.succeed({
          symbol: "ETH",
          figures: { kind: "quote", priceUsd: atMicros, asOfMs: 1_760_000_000_000 + index, ...none }
        })
      )
    ),
  cut: () => {}
})
