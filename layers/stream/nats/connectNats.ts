/**
 * The connection to NATS and what the workers keep there. Names begin with `prefix`, so that deployments can share a
 * server.
 */
import {
  DiscardPolicy,
  type JetStreamClient,
  jetstreamManager,
  type JetStreamManager,
  StorageType
} from "@nats-io/jetstream"
import { type KV, Kvm } from "@nats-io/kv"
import { connect, type NatsConnection } from "@nats-io/transport-node"
import { Effect, Redacted } from "effect"
import { BackplaneUnavailable } from "#domain/stream/Backplane.ts"

/** A lease that is not renewed for this long, in milliseconds, is free. */
export const leaseLife = 3_000
const requestTimeout = 2_000

export interface NatsBackplaneOptions {
  readonly url: Redacted.Redacted
  readonly prefix: string
  /** Events of each asset that are kept for replay. */
  readonly eventsPerAsset: number
}

/** An open connection, and what is kept there. */
export interface Nats {
  readonly connection: NatsConnection
  readonly manager: JetStreamManager
  readonly jetstream: JetStreamClient
  readonly stream: EventStream
  /** Values that all workers read. */
  readonly shared: KV
  /** The right to hold the providers' connections. */
  readonly lease: KV
  readonly state: { readonly isConnected: boolean }
}

export interface EventStream {
  readonly name: string
  /** Sequences of the service are those of the stream above it. */
  readonly offset: number
}

export const attempt = <A>(what: string, run: () => Promise<A>): Effect.Effect<A, BackplaneUnavailable> =>
  Effect.tryPromise({
    try: run,
    catch: (cause) =>
      new BackplaneUnavailable({ reason: `${what}: ${cause instanceof Error ? cause.message : String(cause)}` })
  })

/**
 * Opens the stream of events; the first worker creates it. Sequences of the service are those of the stream above
 * `offset`, the microseconds of the stream's creation, so that those of a stream that was lost and made anew are above
 * all earlier ones.
 */
const openStream = Effect.fnUntraced(function* (
  manager: JetStreamManager,
  { eventsPerAsset, prefix }: NatsBackplaneOptions
) {
  const name = `${prefix}-market`
  const config = {
    name,
    subjects: [`${prefix}.market.>`],
    storage: StorageType.File,
    discard: DiscardPolicy.Old,
    max_msgs_per_subject: eventsPerAsset,
    allow_direct: true
  }
  const existing = yield* Effect.option(attempt("stream", () => manager.streams.info(name)))
  const info =
    existing._tag === "Some"
      ? existing.value
      : yield* attempt("stream", () => manager.streams.add(config)).pipe(
          // Another worker was first.
          Effect.catch(() => attempt("stream", () => manager.streams.info(name)))
        )
  if (info.config.max_msgs_per_subject !== eventsPerAsset) {
    yield* attempt("stream", () => manager.streams.update(name, { max_msgs_per_subject: eventsPerAsset }))
  }
  const stream: EventStream = { name, offset: Date.parse(info.created) * 1_000 }
  return stream
})

export const connectNats = Effect.fnUntraced(function* (options: NatsBackplaneOptions) {
  const { prefix } = options
  const { host, password, protocol, username } = new URL(Redacted.value(options.url))
  const connection: NatsConnection = yield* Effect.acquireRelease(
    attempt("NATS", () =>
      connect({
        servers: `${protocol}//${host}`,
        ...(username === "" ? {} : { user: decodeURIComponent(username), pass: decodeURIComponent(password) }),
        maxReconnectAttempts: -1,
        reconnectTimeWait: 250,
        timeout: requestTimeout,
        pingInterval: 5_000
      })
    ),
    (open) => Effect.promise(() => open.close().catch(() => undefined))
  )
  const state = { isConnected: true }
  const watchStatus = async () => {
    for await (const { type } of connection.status()) {
      if (type === "disconnect") state.isConnected = false
      if (type === "reconnect") state.isConnected = true
    }
  }
  void watchStatus()
  const manager = yield* attempt("JetStream", () => jetstreamManager(connection, { timeout: requestTimeout }))
  const stream = yield* openStream(manager, options)
  const stores = new Kvm(connection)
  const shared = yield* attempt("shared values", () => stores.create(`${prefix}-shared`, { history: 1 }))
  const lease = yield* attempt("lease", () => stores.create(`${prefix}-lease`, { history: 1, ttl: leaseLife }))
  const nats: Nats = { connection, manager, jetstream: manager.jetstream(), stream, shared, lease, state }
  return nats
})
