/** The variables that only the market-data stream worker reads. */
import { Effect, Redacted, Schema, SchemaTransformation } from "effect"
import type { TicketKey } from "#domain/stream/TicketKeys.ts"
import type { WorkerSettingsValue } from "#domain/stream/WorkerSettings.ts"
import * as Kind from "#src/config/kinds.ts"
import { all, optional, required, type Setting, withDefault } from "#src/config/Setting.ts"

/** `id:secret`: the id is part of every token, the secret 32 to 200 printable characters without comma. */
const keyShape = /^([a-z0-9-]{1,16}):([!-+\--~]{32,200})$/u

const ticketKey = {
  ...Kind.kind(
    Schema.String.check(Schema.isPattern(keyShape)).pipe(
      Schema.decodeTo(
        Schema.declare<TicketKey>((value): value is TicketKey => typeof value === "object"),
        SchemaTransformation.transform({
          decode: (text: string): TicketKey => {
            const [, id = "", secret = ""] = keyShape.exec(text) ?? []
            return { id, secret: Redacted.make(secret) }
          },
          encode: ({ id, secret }: TicketKey) => `${id}:${Redacted.value(secret)}`
        })
      )
    ),
    "<key id>:<32 to 200 printable characters>",
    "2026-11:$(openssl rand -hex 32)"
  ),
  isSecret: true
}

const webSocketUrl = Kind.kind(
  Schema.String.check(
    Schema.makeFilter((value: string) => URL.canParse(value) && ["ws:", "wss:"].includes(new URL(value).protocol))
  ),
  "a ws or wss URL",
  "wss://socket.massive.com/stocks"
)

const origin = Kind.text("an origin such as https://app.example.com, or * for any", "https://app.example.com")
const count = Kind.integer(1, 1_000_000, "1000")

export const streamPort = withDefault("STREAM_PORT", Kind.integer(1, 65_535, "3001"), 3001)

/** The first key signs; all are accepted. */
export const ticketKeys = required("STREAM_TICKET_KEYS", {
  ...Kind.listOf(ticketKey),
  isSecret: true
})

export const massive = all({
  url: withDefault("MASSIVE_URL", webSocketUrl, "wss://socket.massive.com/stocks"),
  apiKey: optional("MASSIVE_API_KEY", Kind.secret(/^[!-~]{1,200}$/, "a key without spaces", "the key of the plan"))
})

/** CoinGecko's demo plan allows 30 requests a minute, of which the API's own prices need some. */
export const quoteIntervalMs = withDefault("STREAM_QUOTE_INTERVAL_MS", Kind.integer(250, 3_600_000, "10000"), 10_000)

export const natsUrl = optional("NATS_URL", Kind.secretUrl(["nats:", "tls:"], "nats://user:password@nats-1:4222"))

/** Keeps deployments apart that share a server. */
export const natsPrefix = withDefault(
  "NATS_PREFIX",
  Kind.kind(
    Schema.String.check(Schema.isPattern(/^[a-z0-9-]{1,32}$/u)),
    "1 to 32 lower-case letters, digits and hyphens",
    "ballast"
  ),
  "ballast"
)

export const workerSettings = (defaultUrl: string): Setting<WorkerSettingsValue> =>
  Effect.map(
    all({
      publicUrl: withDefault("STREAM_PUBLIC_URL", Kind.httpUrl("https://stream.example.com"), defaultUrl),
      origins: withDefault<ReadonlyArray<string>>("STREAM_ALLOWED_ORIGINS", Kind.listOf(origin), []),
      ticketLifeSeconds: withDefault("STREAM_TICKET_SECONDS", Kind.integer(10, 86_400, "300"), 300),
      ticketsPerMinute: withDefault("STREAM_TICKETS_PER_MINUTE", count, 30),
      replayWindow: withDefault("STREAM_REPLAY_WINDOW", Kind.integer(1, 10_000, "300"), 300),
      bytesPerSocket: withDefault("STREAM_BYTES_PER_SOCKET", Kind.integer(65_536, 16_777_216, "262144"), 262_144),
      maxSockets: withDefault("STREAM_MAX_SOCKETS", count, 50_000),
      maxSocketsPerAddress: withDefault("STREAM_MAX_SOCKETS_PER_ADDRESS", count, 100),
      lingerMs: withDefault("STREAM_LINGER_MS", Kind.integer(0, 3_600_000, "60000"), 60_000),
      maxAssets: withDefault("STREAM_MAX_ASSETS", Kind.integer(1, 5_000, "2000"), 2_000)
    }),
    ({ origins, ...settings }) => ({ ...settings, allowedOrigins: origins.includes("*") ? null : origins })
  )
