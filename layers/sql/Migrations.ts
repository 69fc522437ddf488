/**
 * Brings the schema up to date with the numbered files in `migrations/`: forward only, all pending ones in one
 * transaction. Processes that start together take turns, however long that takes: the bounds of sessions are not
 * theirs, and on a server they have a connection of their own, which has no idle timeout.
 */
import { NodeServices } from "@effect/platform-node"
import { Effect, FileSystem, Layer, Option } from "effect"
import { Migrator, SqlClient } from "effect/sql"
import * as MigratorFileSystem from "effect/sql/MigratorFileSystem"
import { fileURLToPath } from "node:url"
import { DatabaseInfo } from "#layers/sql/DatabaseInfo.ts"

const folder = fileURLToPath(new URL("../../migrations", import.meta.url))

/** All migrations of this release, in their order. */
export const loader = MigratorFileSystem.fromFileSystem(folder)

/** The files of the migrations with their texts, in their order. */
export const texts = Effect.gen(function* () {
  const files = yield* FileSystem.FileSystem
  const names = yield* files.readDirectory(folder)
  return yield* Effect.forEach(names.toSorted(), (file) =>
    Effect.map(files.readFileString(`${folder}/${file}`), (text) => ({ file, text }))
  )
})

const run = Migrator.make({})({
  loader,
  table: "schema_migrations"
})

/** Runs an effect in one transaction, without the bounds of the session. */
export const unbounded = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    sql`SET LOCAL lock_timeout = 0`.pipe(
      Effect.andThen(sql`SET LOCAL statement_timeout = 0`),
      Effect.andThen(effect),
      sql.withTransaction
    )
  )

export const layer = Layer.unwrap(
  Effect.map(Effect.serviceOption(DatabaseInfo), (info) => {
    const migrating = Layer.effectDiscard(unbounded(run))
    const patient = Option.getOrNull(info)?.patient ?? null
    return patient === null ? migrating : Layer.provide(migrating, patient)
  })
).pipe(Layer.provide(NodeServices.layer))
