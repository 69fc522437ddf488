/** What every session with a PostgreSQL server is bounded by. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { DatabaseInfo } from "#layers/sql/DatabaseInfo.ts"
import { eachDatabase } from "#test/support/database.ts"

eachDatabase("a session with the database", (it) => {
  it.effect("ends when it stands still in a transaction, or its peer is gone", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      if ((yield* DatabaseInfo).isEmbedded) return
      const settings = yield* sql<{ readonly name: string; readonly setting: string }>`
        SELECT name, setting FROM pg_settings
        WHERE name IN ('idle_in_transaction_session_timeout', 'tcp_user_timeout', 'transaction_isolation') ORDER BY name`
      assert.deepStrictEqual(
        settings.map(({ name, setting }) => [name, setting]),
        [
          ["idle_in_transaction_session_timeout", "15000"],
          ["tcp_user_timeout", "15000"],
          ["transaction_isolation", "read committed"]
        ]
      )
    })
  )
})
