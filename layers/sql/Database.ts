/**
 * The database connection: a PostgreSQL server when the configuration names one, otherwise PGlite inside this process.
 * Both are spoken to by the same client, so SQL, codecs and errors are the same.
 */
import { PgClient } from "@effect/sql-pg"
import { Duration, Effect, Layer, type Redacted } from "effect"
import { randomUUID } from "node:crypto"
import { DatabaseConfig } from "#layers/sql/DatabaseConfig.ts"
import { DatabaseInfo } from "#layers/sql/DatabaseInfo.ts"
import { poolMetrics } from "#layers/sql/poolMetrics.ts"
import * as Pglite from "#layers/sql/pglite/Pglite.ts"
import * as ServerClient from "#layers/sql/ServerClient.ts"
import { serverSocket } from "#layers/sql/serverSocket.ts"

/** Connections apart from the pool: one keeps the locks of shards, the other serves other queries meanwhile. */
const connectionsApart = 2

/**
 * What the server bounds: a transaction whose process stands still gives its locks up, a lock is waited for until then
 * and no longer, no statement runs for ever, and a peer that is gone is noticed. A value is milliseconds.
 */
const bounds = {
  idle_in_transaction_session_timeout: "8000",
  lock_timeout: "10000",
  statement_timeout: "12000",
  tcp_user_timeout: "12000",
  default_transaction_isolation: "read committed"
}

/** How long a new connection may take. */
const connectTimeout = Duration.seconds(5)

/** Time without a byte after which a connection is taken for lost. */
export interface Silence {
  /** Silence of the pool: later than the server ends what it does, so that one at work always says so before. */
  readonly pool: Duration.Duration
  /** Silence of the connection that listens, over which nothing may come for long. */
  readonly listening: Duration.Duration
  /** Silence of the connections apart: locks of shards are checked every second. */
  readonly apart: Duration.Duration
}

const silence: Silence = {
  pool: Duration.seconds(14),
  listening: Duration.seconds(75),
  apart: Duration.seconds(10)
}

const server = (url: Redacted.Redacted, timeout: Duration.Duration) => ({
  url,
  connectTimeout,
  startupParameters: bounds,
  stream: serverSocket(url, timeout)
})

/** A pooler takes no session's parameters, and keeps no statement for the next transaction. */
const pooler = (url: Redacted.Redacted, timeout: Duration.Duration) => ({
  url,
  connectTimeout,
  prepare: false,
  stream: serverSocket(url, timeout)
})

const make = (allowed: Silence) =>
  Effect.gen(function* () {
    const { url, dataDir, directUrl = null, maxConnections } = yield* DatabaseConfig
    if (url === null) {
      const info = DatabaseInfo.of({ isEmbedded: true, apart: null, listening: null, patient: null })
      return Layer.merge(Pglite.layer(dataDir), Layer.succeed(DatabaseInfo, info))
    }
    const direct = directUrl ?? url
    const apart = ServerClient.layer({
      ...server(direct, allowed.apart),
      maxConnections: connectionsApart,
      applicationName: "ballast-shards"
    })
    const listening = PgClient.layer({
      ...server(direct, allowed.listening),
      maxConnections: 1,
      applicationName: "ballast-calls"
    })
    const patient = ServerClient.layer({
      url: direct,
      connectTimeout,
      keepAlive: Duration.seconds(10),
      startupParameters: { ...bounds, lock_timeout: "0", statement_timeout: "0" },
      maxConnections: 1,
      applicationName: "ballast-migrations"
    })
    const applicationName = `ballast ${randomUUID().slice(0, 8)}`
    const pool = ServerClient.layer({
      ...(directUrl === null ? server(url, allowed.pool) : pooler(url, allowed.pool)),
      maxConnections,
      applicationName
    })
    return poolMetrics({ applicationName, maxConnections }).pipe(
      Layer.provideMerge(pool),
      Layer.merge(Layer.succeed(DatabaseInfo, { isEmbedded: false, apart, listening, patient }))
    )
  })

/** Layer with a shorter timeout, for tests of servers that are gone. */
export const layerWith = (allowed: Silence) => Layer.unwrap(make(allowed))

/** Fails with `DirectoryInUse` when another process runs the embedded database of the same folder. */
export const layer = layerWith(silence)
