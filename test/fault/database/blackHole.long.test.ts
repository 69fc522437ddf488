/**
 * A black hole in front of PostgreSQL: connections stay open and nothing comes through, in both directions or in one.
 */
import { assert, describe, it } from "@effect/vitest"
import { Context, Duration, Effect, Layer, Logger, Redacted } from "effect"
import { ClusterSchema } from "effect/cluster"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { Activity } from "effect/workflow"
import { databaseLayer } from "#bench/http/benchDatabase.ts"
import * as Database from "#layers/sql/Database.ts"
import { DatabaseConfig } from "#layers/sql/DatabaseConfig.ts"
import { isTransientFault } from "#layers/sql/isDatabaseFault.ts"
import { allFinished, makeWorkflow, startEngine } from "#test/layers/engine/cluster/engine.ts"
import { newServerDatabase } from "#test/support/database.ts"
import { type Direction, TcpProxy } from "#test/fault/support/TcpProxy.ts"

/** Connects as a deployment does, only sooner. */
const through = (url: string, maxConnections: number) =>
  Database.layerWith({ pool: Duration.seconds(3), listening: Duration.seconds(3), apart: Duration.seconds(2) }).pipe(
    Layer.provide(Layer.succeed(DatabaseConfig, { url: Redacted.make(url), dataDir: "", maxConnections }))
  )

const behind = Effect.fnUntraced(function* (url: string) {
  const direct = new URL(url)
  const proxy = yield* TcpProxy.make(Number(direct.port || 5432))
  const proxied = new URL(url)
  proxied.hostname = "127.0.0.1"
  proxied.port = `${proxy.port}`
  return { proxy, url: proxied.href }
})

const both: ReadonlyArray<Direction> = ["to the server", "to the client"]

describe("a black hole in front of a PostgreSQL server", () => {
  if (newServerDatabase === undefined) {
    it.skip("skipped because TEST_DATABASE_URL is not set", () => {})
    return
  }
  const newDatabase = newServerDatabase

  it.live.each([
    ["in both directions", both],
    ["on the way to the server", ["to the server"]],
    ["on the way back", ["to the client"]]
  ] as const)("%s ends no run, and what commits with its step is done once", ([, directions]) =>
    Effect.gen(function* () {
      const server = yield* newDatabase
      const { proxy, url } = yield* behind(server)
      const direct = Context.get(yield* Layer.build(Layer.fresh(databaseLayer(server))), SqlClient.SqlClient)
      yield* direct`CREATE TABLE done (key text NOT NULL, step int NOT NULL)`
      yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const workflow = makeWorkflow(`Swallowed ${directions.join()}`)
        let defects = 0
        const engine = yield* startEngine(workflow, (key) =>
          Effect.gen(function* () {
            for (let step = 0; step < 5; step++) {
              const slowly = Effect.andThen(sql`SELECT pg_sleep(0.05)`, sql`INSERT INTO done VALUES (${key}, ${step})`)
              yield* Activity.make({
                name: `together/${step}`,
                execute: Effect.asVoid(Effect.orDie(slowly))
              }).annotate(ClusterSchema.WithTransaction, true)
            }
          }).pipe(Effect.tapDefect(() => Effect.sync(() => (defects += 1))))
        )
        const keys = Array.from({ length: 40 }, (_, index) => `${index}`)
        yield* Effect.forEach(keys, engine.launch, { concurrency: "unbounded", discard: true })
        const begun = direct<{ readonly count: number }>`SELECT count(*)::int AS count FROM done`
        yield* Effect.repeat(begun, { until: ([row]) => row!.count > 20 })
        assert.isAbove(proxy.connections, 0)
        proxy.swallow(directions)
        // Nor do new connections come through, for a while.
        proxy.swallowNew(directions)
        yield* Effect.sleep("4 seconds")
        proxy.swallowNew([])
        proxy.swallow(directions)
        yield* allFinished(workflow).pipe(Effect.provideService(SqlClient.SqlClient, direct))
        yield* engine.stop
        assert.strictEqual(defects, 0)
      }).pipe(Effect.provide(through(url, 10)))
      assert.deepStrictEqual(
        yield* direct`SELECT count(*)::int AS steps, count(DISTINCT (key, step))::int AS distinct FROM done`,
        [{ steps: 200, distinct: 200 }]
      )
    }).pipe(Effect.scoped, Effect.provide(Layer.mergeAll(SecureRandom.layerWebCrypto, Logger.layer([]))))
  )

  it.live("ends every wait for it: a statement, a commit, a connection, a place in the pool", () =>
    Effect.gen(function* () {
      const { proxy, url } = yield* behind(yield* newDatabase)
      const sql = Context.get(yield* Layer.build(through(url, 2)), SqlClient.SqlClient)
      yield* sql`CREATE TABLE written (id int)`
      const statement = Effect.flip(sql`SELECT 1`)
      const commit = Effect.flip(
        sql`INSERT INTO written VALUES (1)`.pipe(
          Effect.andThen(Effect.sync(() => (proxy.swallow(both), proxy.swallowNew(both)))),
          sql.withTransaction
        )
      )
      const errors = yield* Effect.all([commit, ...Array.from({ length: 5 }, () => Effect.delay(statement, 100))], {
        concurrency: "unbounded"
      })
      assert.isTrue(errors.every(isTransientFault), "all of them are faults of the database")
      proxy.swallowNew([])
      assert.deepStrictEqual(yield* sql`SELECT count(*)::int AS count FROM written`, [{ count: 0 }])
    }).pipe(Effect.scoped)
  )
})
