/**
 * The embedded database: PGlite in this process behind the ordinary PostgreSQL client, without a port or a socket.
 *
 * It survives the death of the process but not of the operating system: PGlite never calls fsync. It is one session,
 * so it has one connection, LISTEN delivers nothing, and advisory locks protect nothing.
 */
import { PGlite } from "@electric-sql/pglite"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Schema } from "effect"
import { join } from "node:path"
import { Gate } from "#layers/sql/pglite/Gate.ts"
import { lockDirectory } from "#layers/sql/pglite/lockDirectory.ts"
import { PgliteDuplex } from "#layers/sql/pglite/PgliteDuplex.ts"

/** The folder holds what this release's PGlite cannot open: it is of another version, or damaged. */
class DirectoryUnreadable extends Schema.TaggedError<DirectoryUnreadable>()("DirectoryUnreadable", {
  directory: Schema.String,
  cause: Schema.Defect()
}) {
  override get message() {
    const reason = this.cause instanceof Error ? this.cause.message : String(this.cause)
    return (
      `The embedded database in ${this.directory} cannot be opened: ${reason}. It is of another version, or damaged. ` +
      "Start the release that wrote it, restore the folder from a copy, or move it away (or choose another DATA_DIR) " +
      "for an empty database; nothing was changed."
    )
  }
}

/** The database in `<dataDir>/postgres`, made on first use. */
export const layer = (dataDir: string) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const directory = join(dataDir, "postgres")
      yield* lockDirectory(directory)
      const gate = new Gate()
      const db = yield* Effect.acquireRelease(
        Effect.tryPromise({
          try: () => PGlite.create({ dataDir: directory }),
          catch: (cause) => new DirectoryUnreadable({ directory, cause })
        }),
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
