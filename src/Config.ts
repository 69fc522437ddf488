/**
 * The configuration of a deployment: the only place that reads the environment.
 *
 * Every variable is described in docs/operations.md. A start with missing or malformed variables fails with one message
 * that lists all of them; values that may be secret are never part of it.
 */
import { Duration, Effect, Layer } from "effect"
import { BundleWindow } from "#domain/relay/BundleSigner.ts"
import { StreamSettings } from "#domain/execution/StreamSettings.ts"
import { KeyEnvironment } from "#domain/identity/KeyEnvironment.ts"
import { OwnerAddress } from "#domain/values/OwnerAddress.ts"
import { OperatorAccount } from "#domain/strategy/OperatorAccount.ts"
import { AttestorConfig, type AttestorChoice } from "#layers/attestor/AttestorConfig.ts"
import { EvmConfig } from "#layers/evm/EvmConfig.ts"
import { KeyHashConfig } from "#layers/identity/KeyHashConfig.ts"
import { CoinGeckoConfig } from "#layers/market/CoinGeckoConfig.ts"
import { TokenListConfig } from "#layers/market/TokenListConfig.ts"
import { SignInSettings } from "#domain/identity/SignInSettings.ts"
import { CountryHeader } from "#domain/listing/CountryHeader.ts"
import { IssuerPoliciesLive } from "#layers/catalogue/IssuerPoliciesLive.ts"
import { MarketDataAccess } from "#domain/marketData/MarketDataAccess.ts"
import { MarketDataConfig } from "#layers/market/MarketDataJobsLive.ts"
import { PriceTolerance } from "#layers/routing/lifi/LifiPriceCheck.ts"
import { IssuerTerms } from "#domain/trading/Issuer.ts"
import { OndoConfig } from "#layers/issuer/ondo/OndoConfig.ts"
import { SolanaConfig } from "#layers/solana/SolanaConfig.ts"
import { LifiConfig } from "#layers/routing/lifi/LifiConfig.ts"
import { WebhookConfig } from "#layers/webhook/WebhookConfig.ts"
import { DatabaseConfig } from "#layers/sql/DatabaseConfig.ts"
import { LivenessSettings } from "#layers/engine/LivenessLive.ts"
import { TelemetryConfig } from "#layers/telemetry/TelemetryConfig.ts"
import { keyEnvironment, otherPepper, pepper, pepperIfAny, randomHex } from "#src/config/apiKeys.ts"
import { database, databaseUrl } from "#src/config/database.ts"
import { chains, guardedChains } from "#src/config/chains.ts"
import type { Program } from "#src/config/envExample.ts"
import * as Kind from "#src/config/kinds.ts"
import { accessOf, countryHeaders, marketData } from "#src/config/marketData.ts"
import { coinGecko, lifi, ondo } from "#src/config/providers.ts"
import { withSecrets } from "#src/config/secretTexts.ts"
import { host, server, trustedProxies } from "#src/config/server.ts"
import { attestorSigners, attestorToken, signers } from "#src/config/signers.ts"
import { settings, settingsLayer } from "#src/config/settings.ts"
import { leaver, solana } from "#src/config/solana.ts"
import {
  massive,
  natsPrefix,
  natsUrl,
  quoteIntervalMs,
  streamPort,
  ticketKeys,
  workerSettings
} from "#src/config/streamWorker.ts"
import { telemetryOf } from "#src/config/telemetry.ts"
import { all, optional, orInvalid, required, type Setting, withDefault } from "#src/config/Setting.ts"
import manifest from "../package.json" with { type: "json" }

const token = Kind.secret(/^[!-~]{24,200}$/, "24 to 200 printable characters without spaces", randomHex)
const evm: Setting<{ readonly evm: EvmConfig["Service"]; readonly attestor: AttestorChoice }> = Effect.gen(
  function* () {
    const { chains: configured, signers: keys } = yield* all({ chains, signers })
    const { agent, attestor, relayers } = keys
    return { evm: { chains: configured, agent, relayers }, attestor }
  }
)

const bundleWindow = Effect.map(withDefault("BUNDLE_WINDOW_MS", Kind.integer(0, 1_000, "30"), 30), (milliseconds) =>
  Duration.millis(milliseconds)
)

/** How many streams of operations are open at once, and how often events of other processes are polled for. */
const streams: Setting<StreamSettings["Service"]> = all({
  maxOpen: withDefault("STREAMS_MAX", Kind.integer(1, 100_000, "2000"), 2_000),
  maxOpenPerTenant: withDefault("STREAMS_MAX_PER_TENANT", Kind.integer(1, 100_000, "500"), 500),
  maxOpenPerKey: withDefault("STREAMS_MAX_PER_KEY", Kind.integer(1, 100_000, "250"), 250),
  maxOpenPerAddress: withDefault("STREAMS_MAX_PER_ADDRESS", Kind.integer(1, 100_000, "500"), 500),
  maxOpenOfSessions: withDefault("STREAMS_MAX_OF_SESSIONS", Kind.integer(1, 100_000, "1000"), 1_000),
  maxOpenPerSession: withDefault("STREAMS_MAX_PER_SESSION", Kind.integer(1, 100_000, "8"), 8),
  maxOpenOfSessionsPerTenant: withDefault("STREAMS_MAX_OF_SESSIONS_PER_TENANT", Kind.integer(1, 100_000, "100"), 100),
  maxOpenOfSessionsPerAddress: withDefault("STREAMS_MAX_OF_SESSIONS_PER_ADDRESS", Kind.integer(1, 100_000, "24"), 24),
  pollIntervalMs: withDefault("STREAMS_POLL_MS", Kind.integer(10, 60_000, "100"), 100),
  recheckIntervalMs: withDefault("STREAMS_RECHECK_MS", Kind.integer(1_000, 300_000, "15000"), 15_000)
})

const perMinute = Kind.integer(1, 10_000_000, "600")

/** Requests a minute of a key, a session and an address in each rate tier. The defaults are those of the interface. */
const rateLimits = all({
  global: withDefault("RATE_LIMIT_GLOBAL", perMinute, 600),
  critical: withDefault("RATE_LIMIT_CRITICAL", perMinute, 30),
  general: withDefault("RATE_LIMIT_GENERAL", perMinute, 120),
  burst: withDefault("RATE_LIMIT_BURST", perMinute, 300)
})

/** What the API process reads. */
export const serviceConfig = orInvalid(
  Effect.gen(function* () {
    const { read, secrets } = yield* withSecrets(
      all({
        server,
        database,
        livenessSeconds: withDefault("LIVENESS_SECONDS", Kind.integer(90, 86_400, "180"), 180),
        pepper,
        otherPepper,
        keyEnvironment,
        evm,
        solana,
        settings,
        bundleWindow,
        streams,
        coinGecko,
        coinGeckoUrl: optional("COINGECKO_URL", Kind.httpUrl("https://pro-api.coingecko.com/api/v3")),
        priceToleranceBps: withDefault("PRICE_MAX_DIVERGENCE_BPS", Kind.integer(1, 10_000, "500"), 500),
        marketData,
        countryHeaders,
        appOrigins: withDefault<ReadonlyArray<string>>("APP_ORIGINS", Kind.listOf(Kind.origin), []),
        issuerPolicies: optional("ISSUER_POLICIES", Kind.text("the path of a JSON file", "/etc/ballast/issuers.json")),
        lifi,
        ondo,
        tokenLists: withDefault<ReadonlyArray<string>>(
          "TOKEN_LISTS",
          Kind.listOf(Kind.text("a URL or a file path", "https://tokens.example.com/list.json")),
          []
        ),
        adminToken: optional("ADMIN_TOKEN", token),
        operatorAddress: optional(
          "OPERATOR_ADDRESS",
          Kind.kind(OwnerAddress, "an EVM or Solana address", "0x52908400098527886E0F7030069857D2E4169EE7")
        ),
        internalToken: required("INTERNAL_TOKEN", token),
        streamUrl: optional("STREAM_URL", Kind.httpUrl("http://stream:3001")),
        clockUrl: optional("CLOCK_URL", Kind.httpUrl("http://127.0.0.1:3100/clock")),
        redisUrl: optional("REDIS_URL", Kind.secretUrl(["redis:", "rediss:"], "redis://cache:6379")),
        rateLimits,
        webhookTargets: withDefault("WEBHOOK_TARGETS", Kind.oneOf(["public", "loopback"]), "public"),
        telemetry: telemetryOf("ballast-api")
      })
    )
    const { evm: chainsAndKeys, ...others } = read
    return {
      ...others,
      ...chainsAndKeys,
      telemetry: { ...read.telemetry, serviceVersion: manifest.version, secrets }
    }
  })
)

export type ServiceConfig = Effect.Success<typeof serviceConfig>

/** The parts of the configuration that adapters and business rules read by name. */
export const layer = (config: ServiceConfig) =>
  Layer.mergeAll(
    settingsLayer(config.settings),
    Layer.succeed(StreamSettings, config.streams),
    Layer.succeed(BundleWindow, config.bundleWindow),
    Layer.succeed(EvmConfig, config.evm),
    Layer.succeed(SolanaConfig, config.solana),
    Layer.succeed(AttestorConfig, config.attestor),
    Layer.succeed(DatabaseConfig, config.database),
    Layer.succeed(LivenessSettings, { within: Duration.seconds(config.livenessSeconds) }),
    Layer.succeed(KeyHashConfig, { pepper: config.pepper, other: config.otherPepper }),
    Layer.succeed(KeyEnvironment, config.keyEnvironment),
    Layer.succeed(WebhookConfig, { targets: config.webhookTargets }),
    Layer.succeed(CoinGeckoConfig, config.coinGecko),
    Layer.succeed(PriceTolerance, { bps: config.priceToleranceBps }),
    Layer.succeed(CountryHeader, config.countryHeaders),
    Layer.succeed(SignInSettings, {
      origins: config.appOrigins,
      chainIds: config.evm.chains.map(({ chainId }) => chainId)
    }),
    IssuerPoliciesLive(config.issuerPolicies),
    Layer.succeed(OperatorAccount, { address: config.operatorAddress }),
    Layer.succeed(MarketDataConfig, config.marketData),
    Layer.succeed(MarketDataAccess, accessOf(config.marketData, config.coinGecko, config.coinGeckoUrl !== null)),
    Layer.succeed(LifiConfig, config.lifi),
    Layer.succeed(OndoConfig, config.ondo.config),
    Layer.succeed(IssuerTerms, config.ondo.terms),
    Layer.succeed(TokenListConfig, { sources: config.tokenLists, blocked: config.settings.blockedAssets }),
    Layer.succeed(TelemetryConfig, config.telemetry)
  )

/** What the market-data stream worker reads. */
export const streamWorkerConfig = orInvalid(
  Effect.gen(function* () {
    const { port } = yield* all({ port: streamPort })
    const { read, secrets } = yield* withSecrets(
      all({
        host: host,
        trustedProxies: trustedProxies,
        settings: workerSettings(`http://localhost:${port}`),
        ticketKeys,
        internalToken: required("INTERNAL_TOKEN", token),
        massive,
        coinGecko,
        quoteIntervalMs,
        natsUrl,
        natsPrefix,
        clockUrl: optional("CLOCK_URL", Kind.httpUrl("http://127.0.0.1:3100/clock")),
        telemetry: telemetryOf("ballast-stream")
      })
    )
    return { ...read, port, telemetry: { ...read.telemetry, serviceVersion: manifest.version, secrets } }
  })
)

export type StreamWorkerConfig = Effect.Success<typeof streamWorkerConfig>

/** What the price attestor's process reads. */
export const attestorConfig = orInvalid(
  Effect.gen(function* () {
    const { read, secrets } = yield* withSecrets(
      all({
        host: host,
        port: withDefault("ATTESTOR_PORT", Kind.integer(1, 65_535, "3002"), 3002),
        token: attestorToken,
        signers: attestorSigners,
        chains: guardedChains,
        coinGecko,
        // Without a second source nothing is signed, so a start without one is a mistake.
        secondSource: required("LIFI_URL", Kind.httpUrl("https://li.quest/v1")),
        lifi,
        toleranceBps: withDefault("ATTESTOR_MAX_DIVERGENCE_BPS", Kind.integer(1, 10_000, "200"), 200),
        clockUrl: optional("CLOCK_URL", Kind.httpUrl("http://127.0.0.1:3100/clock")),
        telemetry: telemetryOf("ballast-attestor")
      })
    )
    return { ...read, telemetry: { ...read.telemetry, serviceVersion: manifest.version, secrets } }
  })
)

export type AttestorProcessConfig = Effect.Success<typeof attestorConfig>

/** What the command line reads. Only making keys on the database itself needs the pepper. */
export const cliConfig = orInvalid(
  all({
    database,
    keyEnvironment,
    pepper: pepperIfAny,
    otherPepper,
    adminUrl: optional("BALLAST_ADMIN_URL", Kind.httpUrl("http://127.0.0.1:3000")),
    adminToken: optional("ADMIN_TOKEN", token)
  })
)

/** What the command line reads to call the API as a tenant. */
export const clientConfig = orInvalid(
  all({
    baseUrl: withDefault("BALLAST_URL", Kind.httpUrl("http://127.0.0.1:3000"), "http://127.0.0.1:3000"),
    apiKey: optional("BALLAST_API_KEY", Kind.secret(/^[!-~]{1,200}$/, "an API key", "bk_live_..."))
  })
)

/** What starting several API processes reads of their configuration: they share a server and take ports in a row. */
export const clusterConfig = orInvalid(
  Effect.map(
    all({
      database: required("DATABASE_URL", databaseUrl),
      port: withDefault("PORT", Kind.integer(1, 65_000, "3000"), 3000),
      size: withDefault("CLUSTER_SIZE", Kind.integer(1, 32, "3"), 3)
    }),
    ({ port, size }) => ({ ports: Array.from({ length: size }, (_, index) => port + index) })
  )
)

/** What the demo reads: where the sandbox's control API listens. */
export const demoConfig = orInvalid(
  all({ controlPort: withDefault("SANDBOX_PORT", Kind.integer(1, 65_535, "3100"), 3100) })
)

/** What an owner's way out of a wallet on Solana reads. */
export const leaverConfig = orInvalid(leaver)

/** What `.env.example` shows, in its order. */
export const programs: ReadonlyArray<Program> = [
  { title: "The API: node src/Api.ts", reading: serviceConfig },
  { title: "Several API processes: npm run cluster", reading: clusterConfig },
  { title: "The market-data stream worker: node src/StreamWorker.ts", reading: streamWorkerConfig },
  { title: "The price attestor: node src/PriceAttestor.ts", reading: attestorConfig },
  { title: "The command line: npm run cli", reading: Effect.andThen(Effect.exit(cliConfig), clientConfig) },
  { title: "An owner's way out on Solana: npm run cli -- solana leave", reading: leaverConfig }
]
