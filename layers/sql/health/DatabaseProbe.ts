/** Writes a number of a sequence: a server that only reads refuses it, and no row is left. */
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { DatabaseProbe } from "#domain/health/DatabaseProbe.ts"

export const layer = Layer.effect(
  DatabaseProbe,
  Effect.map(SqlClient.SqlClient, (sql) =>
    DatabaseProbe.of({
      write: sql`SELECT nextval('probe_writes')`.pipe(
        Effect.asVoid,
        Effect.orDie,
        Effect.withSpan("DatabaseProbe.write")
      )
    })
  )
)
