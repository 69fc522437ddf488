/** The embedded database of a simulator process: in memory, migrated once, emptied before each simulation. */
import { PGlite } from "@electric-sql/pglite"
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import { SqlClient, type SqlConnection } from "effect/sql"
import * as Migrations from "#layers/sql/Migrations.ts"
import { Gate } from "#layers/sql/pglite/Gate.ts"
import { PgliteDuplex } from "#layers/sql/pglite/PgliteDuplex.ts"

export interface Database {
  /** The one connection to the one session of the database. */
  readonly connection: SqlConnection.Connection
  /** Deletes all rows of all tables. */
  readonly clear: Effect.Effect<void>
}

const isMigrationTable = "tablename = 'schema_migrations'"

/** Opens it for as long as the scope is open. */
export const openDatabase = Effect.gen(function* () {
  const gate = new Gate()
  const db = yield* Effect.acquireRelease(
    Effect.promise(() => PGlite.create("memory://")),
    (db) => Effect.promise(() => gate.enter(db).then(() => db.close()))
  )
  const client = PgClient.layer({
    username: "postgres",
    database: "postgres",
    stream: () => new PgliteDuplex(db, gate),
    maxConnections: 1,
    minConnections: 1
  })
  const sql = Context.get(yield* Layer.build(Migrations.layer.pipe(Layer.provideMerge(client))), SqlClient.SqlClient)
  const connection = yield* sql.reserve
  const run = (statement: string) => connection.execute(statement, [], undefined)
  const tables = (yield* run(
    `SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND NOT ${isMigrationTable} ORDER BY tablename`
  )) as ReadonlyArray<{ readonly tablename: string }>
  const all = tables.map(({ tablename }) => `"${tablename}"`).join(", ")
  // A plan that depends on how often a statement ran before would give rows in another order.
  yield* run("SET plan_cache_mode = force_generic_plan")
  const clear = Effect.orDie(Effect.asVoid(run(`TRUNCATE ${all} RESTART IDENTITY CASCADE`)))
  return { connection, clear } satisfies Database
})
