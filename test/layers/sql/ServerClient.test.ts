/** Sessions with a PostgreSQL server that may not be used any more. */
import { assert, describe, it } from "@effect/vitest"
import { Context, Deferred, Duration, Effect, Fiber, Latch, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { isTransientFault } from "#layers/sql/isDatabaseFault.ts"
import * as ServerClient from "#layers/sql/ServerClient.ts"
import { emptyServerDatabase } from "#test/support/database.ts"

const clientOf = (url: string, maxConnections: number) =>
  Effect.map(
    Layer.build(Layer.fresh(ServerClient.layer({ url: Redacted.make(url), maxConnections }, Duration.millis(300)))),
    (context) => Context.get(context, SqlClient.SqlClient)
  )

const setReadOnly = (admin: SqlClient.SqlClient, url: string, value: "on" | "off") =>
  admin.unsafe(`ALTER DATABASE ${new URL(url).pathname.slice(1)} SET default_transaction_read_only = ${value}`)

/** Ends all sessions but the administrator's own. */
const cutAll = (admin: SqlClient.SqlClient) => admin`
  SELECT pg_terminate_backend(pid) FROM pg_stat_activity
  WHERE datname = current_database() AND pid <> pg_backend_pid()`

/** Whoever changes the database back may do so in it. */
const writing = (admin: SqlClient.SqlClient) => admin`SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE`

describe("a pool of sessions with a PostgreSQL server", () => {
  if (emptyServerDatabase === undefined) {
    it.skip("skipped because TEST_DATABASE_URL is not set", () => {})
    return
  }
  const newDatabase = emptyServerDatabase

  it.live("uses none that only reads, and writes as soon as new ones may", () =>
    Effect.gen(function* () {
      const url = yield* newDatabase
      const admin = yield* clientOf(url, 1)
      yield* writing(admin)
      yield* admin`CREATE TABLE written (id int)`
      const sql = yield* clientOf(url, 3)
      const write = sql`INSERT INTO written VALUES (1)`
      const all = Effect.all([write, write, write, sql.withTransaction(write)], { concurrency: "unbounded" })
      yield* all
      yield* setReadOnly(admin, url, "on")
      yield* cutAll(admin)
      // Those that were cut are known to be by their next use, at the latest.
      yield* Effect.flip(write).pipe(
        Effect.filterOrFail(({ message }) => message.includes("only reads")),
        Effect.retry({ times: 10 })
      )
      const errors = yield* Effect.forEach([write, sql`SELECT 1`, sql.withTransaction(write)], Effect.flip, {
        concurrency: "unbounded"
      })
      for (const error of errors) {
        assert.isTrue(isTransientFault(error))
        assert.include(String(error.message), "only reads")
      }
      yield* setReadOnly(admin, url, "off")
      yield* all
      yield* all
    }).pipe(Effect.scoped)
  )

  /** A pool of three sessions, all of which came to only read while they were open; the server writes. */
  const onlyReading = Effect.gen(function* () {
    const sql = yield* clientOf(yield* newDatabase, 3)
    yield* sql`CREATE TABLE written (id int)`
    const together = yield* Latch.make()
    let held = 0
    const turn = sql`SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY`.pipe(
      Effect.andThen(Effect.suspend(() => (++held === 3 ? together.open : Effect.void))),
      Effect.andThen(together.await),
      sql.withTransaction
    )
    yield* Effect.all([turn, turn, turn], { concurrency: "unbounded" })
    return sql
  })

  it.live("sends a statement again that a session refused because it only reads, on one that writes", () =>
    Effect.gen(function* () {
      const sql = yield* onlyReading
      for (let written = 1; written <= 6; written++) {
        yield* sql`INSERT INTO written VALUES (1)`
        assert.deepStrictEqual(yield* sql`SELECT count(*)::int AS count FROM written`, [{ count: written }])
      }
    }).pipe(Effect.scoped)
  )

  it.live("refuses one transaction for all sessions that came to only read, since all of them leave it then", () =>
    Effect.gen(function* () {
      const sql = yield* onlyReading
      const write = sql.withTransaction(sql`INSERT INTO written VALUES (1)`)
      assert.isTrue(isTransientFault(yield* Effect.flip(write)))
      for (let written = 1; written <= 6; written++) yield* write
      assert.deepStrictEqual(yield* sql`SELECT count(*)::int AS count FROM written`, [{ count: 6 }])
    }).pipe(Effect.scoped)
  )

  it.live("drops one that was left in a transaction that failed", () =>
    Effect.gen(function* () {
      const sql = yield* clientOf(yield* newDatabase, 1)
      yield* sql`BEGIN`
      yield* Effect.flip(sql`SELECT 1 FROM nowhere`)
      assert.isTrue(isTransientFault(yield* Effect.flip(sql`SELECT 1`)))
      assert.deepStrictEqual(yield* sql`SELECT 1 AS one`, [{ one: 1 }])
    }).pipe(Effect.scoped)
  )

  it.live("keeps one whose transaction failed by its own statement", () =>
    Effect.gen(function* () {
      const sql = yield* clientOf(yield* newDatabase, 1)
      const backend = Effect.map(sql<{ pid: number }>`SELECT pg_backend_pid() AS pid`, ([row]) => row!.pid)
      const before = yield* backend
      yield* Effect.flip(sql.withTransaction(Effect.andThen(Effect.ignore(sql`SELECT 1 FROM nowhere`), sql`SELECT 1`)))
      assert.strictEqual(yield* backend, before)
    }).pipe(Effect.scoped)
  )

  it.live("gives up for a statement when all are at work for too long, as a fault of the database", () =>
    Effect.gen(function* () {
      const sql = yield* clientOf(yield* newDatabase, 1)
      const held = yield* Deferred.make<void>()
      const holder = yield* Deferred.succeed(held, undefined).pipe(
        Effect.andThen(Effect.never),
        sql.withTransaction,
        Effect.forkChild
      )
      yield* Deferred.await(held)
      const [lent, transacted] = yield* Effect.all(
        [Effect.flip(sql`SELECT 1`), Effect.flip(sql.withTransaction(sql`SELECT 1`))],
        {
          concurrency: "unbounded"
        }
      ).pipe(Effect.timeout(Duration.seconds(60)))
      for (const error of [lent, transacted]) {
        assert.isTrue(isTransientFault(error))
        assert.include(String(error.message), "No connection to the database was free")
      }
      yield* Fiber.interrupt(holder)
      assert.deepStrictEqual(yield* sql`SELECT 1 AS one`, [{ one: 1 }])
    }).pipe(Effect.scoped)
  )
})
