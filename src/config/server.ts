import { Duration, Effect, Schema } from "effect"
import type { IpNetwork } from "effect/net"
import * as Kind from "#src/config/kinds.ts"
import { all, optional, withDefault } from "#src/config/Setting.ts"

/**
 * Where the API listens. It answers on the loopback interface alone unless HOST is set, so that a service
 * started by hand or in the sandbox is not on the network by accident; production sets `HOST=0.0.0.0` or `::`.
 */
export const host = withDefault("HOST", Kind.text("an address to listen on", "0.0.0.0"), "127.0.0.1")
export const trustedProxies = withDefault<ReadonlyArray<IpNetwork.IpNetwork>>(
  "TRUSTED_PROXIES",
  Kind.listOf(Kind.kind(Schema.IpNetworkFromString, "a network in CIDR notation", "10.0.0.0/8")),
  []
)

export const server = Effect.gen(function* () {
  const { longestAnswer, maxCalls, port, publicUrl, ...place } = yield* all({
    host,
    port: withDefault("PORT", Kind.integer(1, 65_535, "3000"), 3000),
    maxConnections: withDefault("MAX_CONNECTIONS", Kind.integer(10, 1_000_000, "5000"), 5_000),
    maxConnectionsPerAddress: withDefault("MAX_CONNECTIONS_PER_ADDRESS", Kind.integer(1, 1_000_000, "500"), 500),
    keepAliveSeconds: withDefault("KEEP_ALIVE_SECONDS", Kind.integer(1, 3_600, "75"), 75),
    longestAnswer: withDefault("ANSWER_TIMEOUT_SECONDS", Kind.integer(5, 600, "60"), 60),
    maxCalls: withDefault("RPC_MAX_CALLS", Kind.integer(1, 1_000, "100"), 100),
    publicUrl: optional("PUBLIC_URL", Kind.httpUrl("https://api.example.com")),
    trustedProxies
  })
  return {
    ...place,
    answers: { longest: Duration.seconds(longestAnswer), maxCalls },
    port,
    publicUrl: publicUrl ?? `http://localhost:${port}`
  }
})
