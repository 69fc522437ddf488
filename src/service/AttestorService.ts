/** The price attestor composed: its two sources, its chains, its key, and the port it is served on. */
import { NodeCrypto, NodeHttpServer } from "@effect/platform-node"
import { ByteSize, Effect, Layer } from "effect"
import { HttpIncomingMessage, HttpRouter } from "effect/http"
import { AttestorToken, attestorRoutes } from "#http/attestor/attestorRoutes.ts"
import { AttestedGuards } from "#layers/attestor/AttestorConfig.ts"
import { AttestorWith } from "#layers/attestor/PriceAttestorLive.ts"
import { RemoteClock } from "#layers/clock/RemoteClock.ts"
import { EvmClients } from "#layers/evm/rpc/EvmClients.ts"
import { CoinGeckoConfig } from "#layers/market/CoinGeckoConfig.ts"
import { LifiConfig } from "#layers/routing/lifi/LifiConfig.ts"
import { PriceTolerance } from "#layers/routing/lifi/LifiPriceCheck.ts"
import { Telemetry } from "#layers/telemetry/Telemetry.ts"
import { TelemetryConfig } from "#layers/telemetry/TelemetryConfig.ts"
import type { AttestorProcessConfig } from "#src/Config.ts"
import { listeningOn } from "#src/service/CannotListen.ts"
import { type ServerLimits, startingServer } from "#src/service/startingServer.ts"

/** Its callers are the processes of one service. */
const limits: ServerLimits = { maxConnections: 1_000, keepAliveSeconds: 75 }
const largestBody = ByteSize.fromInputUnsafe("64 KiB")

export const AttestorService = (config: AttestorProcessConfig) => {
  const { chains, clockUrl, host, port } = config
  const values = Layer.mergeAll(
    Layer.succeed(AttestorToken, config.token),
    Layer.succeed(AttestedGuards, new Map(chains.map(({ chainId, guards }) => [chainId, guards]))),
    Layer.succeed(CoinGeckoConfig, config.coinGecko),
    Layer.succeed(LifiConfig, config.lifi),
    Layer.succeed(PriceTolerance, { bps: config.toleranceBps }),
    Layer.succeed(HttpIncomingMessage.MaxBodySize, largestBody),
    EvmClients.reading(chains)
  )
  const clock = clockUrl === null ? Layer.empty : RemoteClock.layer({ url: clockUrl, followerId: `attestor-${port}` })
  const listening = Layer.effectDiscard(Effect.logInfo(`Listening on http://${host}:${port}`))
  const server = NodeHttpServer.layer(startingServer(limits), {
    host,
    port,
    gracefulShutdownTimeout: "5 seconds"
  }).pipe(listeningOn({ host, port }, { name: "The price attestor", setting: "ATTESTOR_PORT" }))
  return Layer.merge(HttpRouter.serve(attestorRoutes, { disableLogger: true, disableListenLog: true }), listening).pipe(
    Layer.provide(server),
    Layer.provide(AttestorWith(...config.signers)),
    Layer.provide(values),
    Layer.provide(Telemetry.pipe(Layer.provide(Layer.succeed(TelemetryConfig, config.telemetry)))),
    Layer.provide([NodeCrypto.layer]),
    Layer.provide(clock)
  )
}
