/** The sessions that a process has with a PostgreSQL server: how many of which kind, and what bounds them. */
import type { PgClient } from "@effect/sql-pg"
import { Duration, type Redacted } from "effect"
import { randomUUID } from "node:crypto"
import type { DatabaseConfig } from "#layers/sql/DatabaseConfig.ts"
import { serverSocket } from "#layers/sql/serverSocket.ts"

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

export const silence: Silence = {
  pool: Duration.seconds(14),
  listening: Duration.seconds(75),
  apart: Duration.seconds(10)
}

/** Connections apart from the pool: one keeps the locks of shards, the other serves other queries meanwhile. */
const connectionsApart = 2
/** One receives what other processes notify, one migrates. */
export const connectionsBesidePool = connectionsApart + 2

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

interface DatabaseAddress extends Pick<DatabaseConfig["Service"], "directUrl" | "maxConnections"> {
  readonly url: Redacted.Redacted
}

export const sessionsOf = ({ directUrl, maxConnections, url }: DatabaseAddress, allowed: Silence) => {
  const direct = directUrl ?? url
  const ownWay = directUrl === null || directUrl === undefined
  return {
    pool: {
      ...(ownWay ? server(url, allowed.pool) : pooler(url, allowed.pool)),
      maxConnections,
      applicationName: `ballast ${randomUUID().slice(0, 8)}`
    },
    apart: {
      ...server(direct, allowed.apart),
      maxConnections: connectionsApart,
      applicationName: "ballast-shards"
    },
    listening: {
      ...server(direct, allowed.listening),
      maxConnections: 1,
      applicationName: "ballast-calls"
    },
    patient: {
      url: direct,
      connectTimeout,
      keepAlive: Duration.seconds(10),
      startupParameters: { ...bounds, lock_timeout: "0", statement_timeout: "0" },
      maxConnections: 1,
      applicationName: "ballast-migrations"
    }
  } satisfies Record<string, PgClient.PgPoolConfig>
}
