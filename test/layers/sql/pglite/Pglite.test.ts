import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, Exit, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as Database from "#layers/sql/Database.ts"
import { DatabaseConfig } from "#layers/sql/DatabaseConfig.ts"
import { DatabaseInfo } from "#layers/sql/DatabaseInfo.ts"
import { copyOfTemplate, TestDatabase } from "#test/support/database.ts"

const countNotes = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.map(sql<{ readonly n: number }>`SELECT count(*)::int AS n FROM notes`, ([row]) => row!.n)
)

layer(TestDatabase, { excludeTestServices: true })("Pglite", (it) => {
  it.effect("says that it is embedded", () =>
    Effect.gen(function* () {
      assert.isTrue((yield* DatabaseInfo).isEmbedded)
    })
  )

  it.effect("keeps transactions of concurrent fibers apart", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* sql`CREATE TABLE notes (id int PRIMARY KEY)`
      const write = (id: number) =>
        sql.withTransaction(
          Effect.gen(function* () {
            yield* sql`INSERT INTO notes VALUES (${id})`
            yield* Effect.yieldNow
            if (id % 2 === 0) return yield* Effect.fail("undo" as const)
          })
        )
      yield* Effect.forEach(
        Array.from({ length: 40 }, (_, id) => id),
        (id) => Effect.exit(write(id)),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(yield* countNotes, 20)
    })
  )

  it.effect("rolls back a transaction that is interrupted while it is open", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const before = yield* countNotes
      const fiber = yield* Effect.forkChild(
        sql.withTransaction(Effect.andThen(sql`INSERT INTO notes VALUES (1000)`, Effect.never))
      )
      yield* Effect.sleep(20)
      yield* Fiber.interrupt(fiber)
      assert.strictEqual(yield* countNotes, before)
    })
  )

  it.effect("works on after queries were interrupted under way, and drops the statements of their connections", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const before = yield* countNotes
      let interrupted = 0
      for (let round = 0; round < 30; round++) {
        const write = sql.withTransaction(sql`INSERT INTO notes VALUES (${2000 + round}), (${2000 + round})`)
        const fiber = yield* Effect.forkChild(Effect.all([write, sql`SELECT ${round}::int`], { concurrency: 2 }), {
          startImmediately: true
        })
        for (let turn = 0; turn < round % 3; turn++) yield* Effect.yieldNow
        yield* Fiber.interrupt(fiber)
        if (Exit.hasInterrupts(yield* Fiber.await(fiber))) interrupted++
        assert.deepStrictEqual(yield* sql`SELECT ${round}::int AS n`, [{ n: round }])
      }
      assert.isAtLeast(interrupted, 5)
      assert.strictEqual(yield* countNotes, before)
      yield* Effect.sleep(50)
      const [owners] = yield* sql<{ readonly n: number }>`
        SELECT count(DISTINCT split_part(name, '_', 2))::int AS n FROM pg_prepared_statements`
      assert.strictEqual(owners!.n, 1)
    })
  )

  it.effect("answers an error without losing the connection", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      assert.isTrue(Exit.isFailure(yield* Effect.exit(sql`SELECT * FROM nowhere`)))
      assert.isTrue(Exit.isFailure(yield* Effect.exit(sql`SELECT 1 / ${0}::int`)))
      assert.deepStrictEqual(yield* sql`SELECT ${"x".repeat(300_000)}::text AS long`, [{ long: "x".repeat(300_000) }])
    })
  )
})

describe("Pglite between starts", () => {
  it.live("keeps commits, lets one process in at a time, and is free after closing", () =>
    Effect.gen(function* () {
      const dataDir = yield* copyOfTemplate
      const database = Database.layer.pipe(
        Layer.provide(Layer.succeed(DatabaseConfig, { url: null, dataDir, maxConnections: 1 }))
      )
      const fresh = <A, E>(effect: Effect.Effect<A, E, SqlClient.SqlClient>) =>
        Effect.provide(effect, Layer.fresh(database), { local: true })
      yield* fresh(
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          yield* sql`CREATE TABLE notes (id int PRIMARY KEY)`
          yield* sql`INSERT INTO notes VALUES (1)`
          const second = yield* Effect.flip(fresh(countNotes))
          assert.strictEqual(second._tag, "DirectoryInUse")
        })
      )
      assert.strictEqual(yield* fresh(countNotes), 1)
    })
  )
})
