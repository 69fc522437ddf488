/**
 * Whether a database is the service's, and of which release: read from its record of migrations, without a change. For
 * programs that must not make or migrate a database.
 */
import { NodeServices } from "@effect/platform-node"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { loader } from "#layers/sql/Migrations.ts"

/** A migration by number and name: `0001_identity`. */
type Name = string

export type SchemaState =
  /** No database of the service; `tables` above 0: it belongs to something else. */
  | { readonly _tag: "Foreign"; readonly tables: number }
  /** Its record has other migrations than any release: it was made by a version that was never released. */
  | { readonly _tag: "Unreleased"; readonly found: Name; readonly expected: Name }
  /** The service's, but its schema is that of an earlier release. */
  | { readonly _tag: "Behind"; readonly pending: ReadonlyArray<Name> }
  /** The service's, but a later release has migrated it. */
  | { readonly _tag: "Ahead"; readonly unknown: ReadonlyArray<Name> }
  | { readonly _tag: "Current"; readonly latest: Name }

const nameOf = (id: number, name: string): Name => `${String(id).padStart(4, "0")}_${name}`

export const schemaState = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [found] = yield* sql<{ migrations: boolean; tenants: boolean; tables: number }>`
    SELECT to_regclass('schema_migrations') IS NOT NULL AS migrations, to_regclass('tenants') IS NOT NULL AS tenants,
      (SELECT count(*)::int FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')) AS tables`
  if (!found!.migrations || !found!.tenants)
    return { _tag: "Foreign", tables: found!.tables } satisfies SchemaState as SchemaState
  const applied = yield* sql<{ migration_id: number; name: string }>`
    SELECT migration_id, name FROM schema_migrations ORDER BY migration_id`
  const own = yield* Effect.provide(loader, NodeServices.layer)
  const known = new Map(own.map(([id, name]) => [id, name]))
  const unknown = applied.filter((row) => !known.has(row.migration_id))
  const other = applied.find((row) => known.has(row.migration_id) && known.get(row.migration_id) !== row.name)
  if (other !== undefined) {
    const [found, expected] = [other.name, known.get(other.migration_id)!]
    return {
      _tag: "Unreleased",
      found: nameOf(other.migration_id, found),
      expected: nameOf(other.migration_id, expected)
    } satisfies SchemaState as SchemaState
  }
  if (unknown.length > 0)
    return { _tag: "Ahead", unknown: unknown.map((row) => nameOf(row.migration_id, row.name)) } as SchemaState
  const latest = applied.at(-1)
  const pending = own.filter(([id]) => id > (latest?.migration_id ?? 0))
  if (latest === undefined || pending.length > 0)
    return { _tag: "Behind", pending: pending.map(([id, name]) => nameOf(id, name)) } as SchemaState
  return { _tag: "Current", latest: nameOf(latest.migration_id, latest.name) } as SchemaState
}).pipe(Effect.withSpan("schemaState"))

class UnreleasedSchema extends Schema.TaggedError<UnreleasedSchema>()("UnreleasedSchema", {
  /** The first migration of the record that no release has, and the one that releases have. */
  found: Schema.String,
  expected: Schema.String
}) {
  override get message() {
    return `The database is of no release: its record of migrations has ${this.found} where releases have ${this.expected}. Nothing was changed; begin with an empty database, or name another one in DATABASE_URL or DATA_DIR`
  }
}

/** Refuses a schema of no release. An earlier release goes on with that of a later one, and logs a warning. */
export const requireReleasedSchema = Effect.gen(function* () {
  const state = yield* schemaState
  if (state._tag === "Unreleased") {
    const { expected, found } = state
    return yield* new UnreleasedSchema({ found, expected })
  }
  if (state._tag === "Ahead")
    yield* Effect.logWarning(
      `A later release has migrated this database (${state.unknown.join(", ")}); docs/operations.md, "Upgrade and rollback"`
    )
})
