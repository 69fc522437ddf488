import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { readdirSync } from "node:fs"
import * as Migrations from "#layers/sql/Migrations.ts"
import { TestDatabase } from "#test/support/database.ts"

it.live("migrations have numbers of their own, are recorded once, and running them again changes nothing", () =>
  Effect.gen(function* () {
    const files = readdirSync(new URL("../../../migrations", import.meta.url)).sort()
    assert.strictEqual(new Set(files.map((file) => file.slice(0, 4))).size, files.length)
    const sql = yield* SqlClient.SqlClient
    const recorded = sql<{ readonly name: string }>`SELECT name FROM schema_migrations ORDER BY migration_id`
    const before = (yield* recorded).map((row) => row.name)
    assert.deepStrictEqual(
      before,
      files.map((file) => file.slice(5, -3))
    )
    yield* Effect.scoped(Layer.build(Layer.fresh(Migrations.layer)))
    assert.deepStrictEqual(
      (yield* recorded).map((row) => row.name),
      before
    )
  }).pipe(Effect.provide(TestDatabase))
)
