/** A server that has run since before a time, and has replayed nothing of another one's, has lost nothing since. */
import { assert } from "@effect/vitest"
import { DateTime, Effect, Option } from "effect"
import { SqlClient } from "effect/sql"
import { LostCommits } from "#domain/operation/LostCommits.ts"
import { eachDatabase } from "#test/support/database.ts"

eachDatabase("LostCommits", (it) => {
  it.effect("commits of before the server's start may be lost, and later ones are not", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const [server] = yield* sql<{ readonly startedAt: Date }>`SELECT pg_postmaster_start_time() AS "startedAt"`
      const startedAt = DateTime.fromDateUnsafe(server!.startedAt)
      const { after } = yield* LostCommits
      for (const millis of [-3_600_000, -1]) {
        assert.deepStrictEqual(yield* after(DateTime.add(startedAt, { milliseconds: millis })), Option.some(startedAt))
      }
      assert.isTrue(Option.isNone(yield* after(DateTime.add(startedAt, { milliseconds: 1 }))))
    })
  )
})
