/**
 * The embedded database: PGlite in this process behind the ordinary PostgreSQL client, without a port or a socket.
 *
 * It survives the death of the process but not of the operating system: PGlite never calls fsync. It is one session,
 * so it has one connection, LISTEN delivers nothing, and advisory locks protect nothing.
 */
import { PGlite } from "@electric-sql/pglite"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import { join } from "node:path"
import { Gate } from "#layers/sql/pglite/Gate.ts"
import { lockDirectory } from "#layers/sql/pglite/lockDirectory.ts"
import { PgliteDuplex } from "#layers/sql/pglite/PgliteDuplex.ts"

/** The database in `<dataDir>/postgres`, made on first use. */
export const layer = (dataDir: string) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const directory = join(dataDir, "postgres")
      yield* lockDirectory(directory)
      const gate = new Gate()
      const db = yield* Effect.acquireRelease(
        Effect.promise(() => PGlite.create({ dataDir: directory })),
        // Connections that are closing finish first.
        (db) => Effect.promise(() => gate.enter(db).then(() => db.close()))
      )
      return PgClient.layer({
        username: "postgres",
        database: "postgres",
        applicationName: "ballast",
        stream: () => new PgliteDuplex(db, gate),
        maxConnections: 1,
        minConnections: 1
      })
    })
  )
