/**
 * The database connection: a PostgreSQL server when the configuration names one, otherwise PGlite inside this process.
 * Both are spoken to by the same client, so SQL, codecs and errors are the same.
 */
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import { DatabaseConfig } from "#layers/sql/DatabaseConfig.ts"
import { DatabaseInfo } from "#layers/sql/DatabaseInfo.ts"
import { poolMetrics } from "#layers/sql/poolMetrics.ts"
import * as Pglite from "#layers/sql/pglite/Pglite.ts"
import * as ServerClient from "#layers/sql/ServerClient.ts"
import { sessionsOf, silence, type Silence } from "#layers/sql/sessions.ts"

const make = (allowed: Silence) =>
  Effect.gen(function* () {
    const { url, dataDir, directUrl = null, maxConnections } = yield* DatabaseConfig
    if (url === null) {
      const info = DatabaseInfo.of({ isEmbedded: true, apart: null, listening: null, patient: null })
      return Layer.merge(Pglite.layer(dataDir), Layer.succeed(DatabaseInfo, info))
    }
    const sessions = sessionsOf({ url, directUrl, maxConnections }, allowed)
    const apart = ServerClient.layer(sessions.apart)
    const listening = PgClient.layer(sessions.listening)
    const patient = ServerClient.layer(sessions.patient)
    const pool = ServerClient.layer(sessions.pool)
    return poolMetrics(sessions.pool).pipe(
      Layer.provideMerge(pool),
      Layer.merge(Layer.succeed(DatabaseInfo, { isEmbedded: false, apart, listening, patient }))
    )
  })

/** Layer with a shorter timeout, for tests of servers that are gone. */
export const layerWith = (allowed: Silence) => Layer.unwrap(make(allowed))

/** Fails with `DirectoryInUse` when another process runs the embedded database of the same folder. */
export const layer = layerWith(silence)
