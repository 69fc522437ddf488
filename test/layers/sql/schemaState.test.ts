import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { requireReleasedSchema } from "#layers/sql/schemaState.ts"
import { TestDatabase } from "#test/support/database.ts"

describe("the record of migrations", () => {
  it.live("of a version that was never released refuses the start, with both names and without a change", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* sql`UPDATE schema_migrations SET name = 'keys' WHERE migration_id = 2`
      const record = sql`SELECT * FROM schema_migrations ORDER BY migration_id`
      const before = yield* record
      const refusal = yield* Effect.flip(requireReleasedSchema)
      assert.strictEqual(
        refusal.message,
        "The database is of no release: its record of migrations has 0002_keys where releases have 0002_request. Nothing was changed; begin with an empty database, or name another one in DATABASE_URL or DATA_DIR"
      )
      assert.deepStrictEqual(yield* record, before)
    }).pipe(Effect.provide(TestDatabase))
  )

  it.live("of this release or a later one does not", () =>
    Effect.gen(function* () {
      yield* requireReleasedSchema
      const sql = yield* SqlClient.SqlClient
      yield* sql`INSERT INTO schema_migrations (migration_id, name) VALUES (9999, 'later')`
      yield* requireReleasedSchema
    }).pipe(Effect.provide(TestDatabase))
  )
})
