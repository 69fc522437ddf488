/**
 * The database connection: a PostgreSQL server when the configuration names one, otherwise PGlite inside this process.
 * Both are spoken to by the same client, so SQL, codecs and errors are the same.
 */
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import { DatabaseConfig } from "#layers/sql/DatabaseConfig.ts"
import { DatabaseInfo } from "#layers/sql/DatabaseInfo.ts"
import * as Pglite from "#layers/sql/pglite/Pglite.ts"

/** Fails with `DirectoryInUse` when another process runs the embedded database of the same folder. */
export const layer = Layer.unwrap(
  Effect.gen(function* () {
    const { url, dataDir, maxConnections } = yield* DatabaseConfig
    const client =
      url === null ? Pglite.layer(dataDir) : PgClient.layer({ url, maxConnections, applicationName: "ballast" })
    return Layer.mergeAll(client, Layer.succeed(DatabaseInfo, { isEmbedded: url === null }))
  })
)
