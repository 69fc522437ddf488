/**
 * The database connection: a PostgreSQL server when the configuration names one, otherwise PGlite inside this process.
 * Both are spoken to by the same client, so SQL, codecs and errors are the same.
 */
import { PgClient } from "@effect/sql-pg"
import { Duration, Effect, Layer } from "effect"
import { randomUUID } from "node:crypto"
import { DatabaseConfig } from "#layers/sql/DatabaseConfig.ts"
import { DatabaseInfo } from "#layers/sql/DatabaseInfo.ts"
import { poolMetrics } from "#layers/sql/poolMetrics.ts"
import * as Pglite from "#layers/sql/pglite/Pglite.ts"

/** Connections apart from the pool: one keeps the locks of shards, the other serves what is asked meanwhile. */
const connectionsApart = 2

/**
 * What the server bounds: a transaction whose process stands still gives its locks up, a lock is waited for until then
 * and no longer, no statement runs for ever, and a peer that is gone is noticed. A value is milliseconds.
 */
const bounds = {
  idle_in_transaction_session_timeout: "15000",
  lock_timeout: "20000",
  statement_timeout: "60000",
  tcp_user_timeout: "15000",
  default_transaction_isolation: "read committed"
}
/** Without traffic for so long, the machine asks whether the server is there. */
const keepAlive = Duration.seconds(10)

/** Fails with `DirectoryInUse` when another process runs the embedded database of the same folder. */
export const layer = Layer.unwrap(
  Effect.gen(function* () {
    const { url, dataDir, maxConnections } = yield* DatabaseConfig
    if (url === null)
      return Layer.merge(Pglite.layer(dataDir), Layer.succeed(DatabaseInfo, { isEmbedded: true, apart: null }))
    const server = { url, keepAlive, startupParameters: bounds }
    const apart = PgClient.layer({ ...server, maxConnections: connectionsApart, applicationName: "ballast-shards" })
    const applicationName = `ballast ${randomUUID().slice(0, 8)}`
    return poolMetrics({ applicationName, maxConnections }).pipe(
      Layer.provideMerge(PgClient.layer({ ...server, maxConnections, applicationName })),
      Layer.merge(Layer.succeed(DatabaseInfo, { isEmbedded: false, apart }))
    )
  })
)
