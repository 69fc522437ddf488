/** docs/schema.md is the schema that the migrations make, on both databases, and everything in it is said. */
import { NodeServices } from "@effect/platform-node"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import * as Migrations from "#layers/sql/Migrations.ts"
import { schemaPage } from "#layers/sql/schemaPage.ts"
import { eachDatabase } from "#test/support/database.ts"

const stored = readFileSync(join(import.meta.dirname, "../../../docs/schema.md"), "utf8")

eachDatabase("the schema", (it) => {
  it.effect("is docs/schema.md; `npm run schema` writes it", () =>
    Effect.gen(function* () {
      const migrations = yield* Effect.provide(Migrations.texts, NodeServices.layer)
      assert.strictEqual(yield* schemaPage(migrations), stored)
    })
  )

  it.effect("says of every table and every column what it is, and the page has all of them", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const unsaid = yield* sql`
        SELECT c.relname, a.attname FROM pg_class c
        LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND c.relkind = 'r'
        WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'v') AND c.relname <> 'schema_migrations'
          AND (obj_description(c.oid, 'pg_class') IS NULL
            OR c.relkind = 'r' AND col_description(c.oid, a.attnum) IS NULL)`
      assert.deepStrictEqual(unsaid, [])
      const tables = yield* sql<{ readonly name: string }>`
        SELECT relname AS name FROM pg_class
        WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'v') AND relname <> 'schema_migrations'`
      assert.isAtLeast(tables.length, 70)
      const headings = new Set([...stored.matchAll(/^### `(\w+)`/gmu)].map(([, name]) => name))
      assert.deepStrictEqual(
        tables.map(({ name }) => name).filter((name) => !headings.has(name)),
        []
      )
    })
  )
})
