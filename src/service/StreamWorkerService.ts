/** The stream worker composed: its rooms, its providers, and the port it is served on. */
import { NodeCrypto } from "@effect/platform-node"
import { Duration, Effect, Layer, Option } from "effect"
import { InternalToken } from "#domain/stream/InternalToken.ts"
import { MarketFeeds } from "#domain/stream/MarketFeeds.ts"
import { TicketKeys } from "#domain/stream/TicketKeys.ts"
import { TrustedProxies } from "#domain/stream/TrustedProxies.ts"
import { WorkerSettings } from "#domain/stream/WorkerSettings.ts"
import { RemoteClock } from "#layers/clock/RemoteClock.ts"
import { CoinGeckoClient } from "#layers/market/CoinGeckoClient.ts"
import { CoinGeckoConfig } from "#layers/market/CoinGeckoConfig.ts"
import { makeCoinGeckoFeed } from "#layers/market/CoinGeckoFeed.ts"
import { massiveFeed } from "#layers/market/massive/MassiveFeed.ts"
import { InProcessBackplane } from "#layers/stream/InProcessBackplane.ts"
import { NatsBackplane } from "#layers/stream/nats/NatsBackplane.ts"
import { SocketServer } from "#layers/stream/SocketServer.ts"
import { Telemetry } from "#layers/telemetry/Telemetry.ts"
import { TelemetryConfig } from "#layers/telemetry/TelemetryConfig.ts"
import type { StreamWorkerConfig } from "#src/Config.ts"
import { Worker, WorkerRoutes } from "#stream/Worker.ts"

/** Pause below what proxies commonly cut a silent connection after. */
const heartbeat = Duration.seconds(20)

const Feeds = ({ coinGecko, massive, quoteIntervalMs }: StreamWorkerConfig) =>
  Layer.effect(
    MarketFeeds,
    Effect.gen(function* () {
      const stocks = yield* massiveFeed(massive)
      return [...Option.toArray(stocks), yield* makeCoinGeckoFeed(quoteIntervalMs)]
    })
  ).pipe(Layer.provide(CoinGeckoClient.layer.pipe(Layer.provide(Layer.succeed(CoinGeckoConfig, coinGecko)))))

export const StreamWorkerService = (config: StreamWorkerConfig) => {
  const { clockUrl, host, natsPrefix, natsUrl, port, settings } = config
  const values = Layer.mergeAll(
    Layer.succeed(WorkerSettings, settings),
    Layer.succeed(TicketKeys, config.ticketKeys),
    Layer.succeed(InternalToken, config.internalToken),
    Layer.succeed(TrustedProxies, config.trustedProxies)
  )
  const backplane =
    natsUrl === null
      ? InProcessBackplane
      : NatsBackplane({ url: natsUrl, prefix: natsPrefix, eventsPerAsset: settings.replayWindow })
  const clock = clockUrl === null ? Layer.empty : RemoteClock.layer({ url: clockUrl, followerId: `stream-${port}` })
  const listening = Layer.effectDiscard(Effect.logInfo(`Listening on http://${host}:${port}`))
  return Layer.merge(SocketServer(WorkerRoutes, { host, port, heartbeat }), listening).pipe(
    Layer.provide(Worker),
    Layer.provide([backplane, Feeds(config)]),
    Layer.provide(values),
    Layer.provide(Telemetry.pipe(Layer.provide(Layer.succeed(TelemetryConfig, config.telemetry)))),
    Layer.provide([NodeCrypto.layer]),
    Layer.provide(clock)
  )
}
