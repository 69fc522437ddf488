/** One statement for all who ask at a moment. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { batchedStatement } from "#layers/sql/batchedStatement.ts"
import { eachDatabase } from "#test/support/database.ts"

eachDatabase("batchedStatement", (it) => {
  const counting = Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const sizes: Array<number> = []
    const ask = yield* batchedStatement((items: ReadonlyArray<number>) => {
      sizes.push(items.length)
      return Effect.map(
        sql<{ readonly doubled: number }>`
          SELECT item * 2 AS doubled FROM unnest(${items}::int[]) WITH ORDINALITY AS asked (item, place)
          ORDER BY place`,
        (rows) => rows.map(({ doubled }) => doubled)
      )
    })
    return { ask, sizes, sql }
  })

  it.effect("many who ask at once share a statement, the same item asked twice included", () =>
    Effect.gen(function* () {
      const { ask, sizes } = yield* counting
      const items = [5, 3, 3, 9, 1, 5]
      const answers = yield* Effect.forEach(items, ask, { concurrency: "unbounded" })
      assert.deepStrictEqual(
        answers,
        items.map((item) => item * 2)
      )
      assert.isAtMost(sizes.length, 2)
    }).pipe(Effect.scoped)
  )

  it.effect("who asks inside a transaction asks alone and within it", () =>
    Effect.gen(function* () {
      const { sql } = yield* counting
      yield* sql`CREATE TABLE IF NOT EXISTS batched_items (item int)`
      const ask = yield* batchedStatement((items: ReadonlyArray<number>) =>
        Effect.map(
          sql<{ readonly item: number }>`SELECT item FROM batched_items WHERE item = ANY(${items}::int[])`,
          (rows) => items.map((item) => rows.some((row) => row.item === item))
        )
      )
      const seen = yield* sql.withTransaction(
        Effect.andThen(sql`INSERT INTO batched_items VALUES (7)`, Effect.all([ask(7), ask(8)]))
      )
      assert.deepStrictEqual(seen, [true, false])
      yield* sql`DROP TABLE batched_items`
    }).pipe(Effect.scoped)
  )
})
