/** What every session with a PostgreSQL server is bounded by. */
import { assert } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { DatabaseInfo } from "#layers/sql/DatabaseInfo.ts"
import { isTransientFault } from "#layers/sql/isDatabaseFault.ts"
import { unbounded } from "#layers/sql/Migrations.ts"
import { eachDatabase } from "#test/support/database.ts"

eachDatabase("a session with the database", (it) => {
  it.effect("ends when it stands still in a transaction, or its peer is gone, and waits for nothing for ever", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      if ((yield* DatabaseInfo).isEmbedded) return
      const settings = yield* sql<{ readonly name: string; readonly setting: string }>`
        SELECT name, setting FROM pg_settings
        WHERE name IN ('idle_in_transaction_session_timeout', 'lock_timeout', 'statement_timeout', 'tcp_user_timeout',
          'transaction_isolation')
        ORDER BY name`
      assert.deepStrictEqual(
        settings.map(({ name, setting }) => [name, setting]),
        [
          ["idle_in_transaction_session_timeout", "8000"],
          ["lock_timeout", "10000"],
          ["statement_timeout", "12000"],
          ["tcp_user_timeout", "12000"],
          ["transaction_isolation", "read committed"]
        ]
      )
    })
  )

  it.effect("that waits for a lock in vain is a fault of the database, so that a run goes on later", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      if ((yield* DatabaseInfo).isEmbedded) return
      yield* sql`CREATE TABLE locked (id int)`
      const locked = yield* Deferred.make<void>()
      const holder = yield* sql`LOCK TABLE locked`.pipe(
        Effect.andThen(Deferred.succeed(locked, undefined)),
        Effect.andThen(Effect.never),
        sql.withTransaction,
        Effect.forkChild
      )
      yield* Deferred.await(locked)
      const error = yield* sql`SET LOCAL lock_timeout = 100`.pipe(
        Effect.andThen(sql`SELECT 1 FROM locked`),
        sql.withTransaction,
        Effect.flip
      )
      yield* Fiber.interrupt(holder)
      assert.strictEqual(error.reason._tag, "LockTimeoutError")
      assert.isTrue(isTransientFault(error))
    })
  )

  it.effect("of a migration is bounded by nothing, since a large table takes its time", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      if ((yield* DatabaseInfo).isEmbedded) return
      const [bounds] = yield* sql<{ readonly lock: string; readonly statement: string }>`
        SELECT current_setting('lock_timeout') AS lock, current_setting('statement_timeout') AS statement`.pipe(
        unbounded
      )
      assert.deepStrictEqual(bounds, { lock: "0", statement: "0" })
    })
  )
})
