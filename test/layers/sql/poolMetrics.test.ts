/** Connections of a pool as its metrics count them, on a real server. */
import { PgClient } from "@effect/sql-pg"
import { assert, describe, it } from "@effect/vitest"
import { Context, Deferred, Effect, Layer, Metric, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { samplePool } from "#layers/sql/poolMetrics.ts"
import { emptyServerDatabase } from "#test/support/database.ts"

/** The last values. */
const counted = Effect.map(Metric.snapshot, (all) => {
  const of = (id: string, state?: string) =>
    all
      .filter((one) => one.id === id)
      .find((one) => (one.attributes as Readonly<Record<string, string>>)["db.client.connection.state"] === state)
      ?.state as { readonly value: number } | undefined
  return {
    used: of("db.client.connection.count", "used")?.value,
    idle: of("db.client.connection.count", "idle")?.value,
    most: of("db.client.connection.max")?.value
  }
})

describe("a pool's connections", () => {
  if (emptyServerDatabase === undefined) {
    it.skip("skipped because TEST_DATABASE_URL is not set", () => {})
    return
  }
  const database = emptyServerDatabase

  it.live("are counted by what they do, other pools apart; one that has none left is at work as a whole", () =>
    Effect.gen(function* () {
      const url = Redacted.make(yield* database)
      const pool = { applicationName: "ballast of this test", maxConnections: 2 }
      const others = yield* Layer.build(PgClient.layer({ url, maxConnections: 1, applicationName: "others" }))
      yield* Effect.provide(
        Effect.flatMap(SqlClient.SqlClient, (sql) => sql`SELECT 1`),
        others
      )
      const own = yield* Layer.build(PgClient.layer({ url, ...pool }))
      const sample = Effect.provide(samplePool(pool), own)
      const sampled = Effect.andThen(sample, counted)
      assert.deepStrictEqual(yield* sampled, { used: 0, idle: 1, most: 2 })

      const sql = Context.get(own, SqlClient.SqlClient)
      const end = yield* Deferred.make<void>()
      /** Holds a connection in a transaction until the end. */
      const held = Effect.gen(function* () {
        const isHeld = yield* Deferred.make<void>()
        const work = sql`SELECT 1`.pipe(
          Effect.andThen(Deferred.succeed(isHeld, undefined)),
          Effect.andThen(Deferred.await(end))
        )
        yield* Effect.forkScoped(sql.withTransaction(work))
        yield* Deferred.await(isHeld)
      })
      yield* held
      assert.deepStrictEqual(yield* sampled, { used: 1, idle: 1, most: 2 })
      yield* held
      assert.deepStrictEqual(yield* sampled, { used: 2, idle: 0, most: 2 })
      yield* Deferred.succeed(end, undefined)
    }).pipe(Effect.scoped)
  )
})
