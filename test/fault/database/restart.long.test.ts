/** A PostgreSQL server of the test's own that crashes and comes back, and a pool of which nothing is left. */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer, Logger, Redacted } from "effect"
import { ClusterSchema } from "effect/cluster"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { Activity } from "effect/workflow"
import * as Database from "#layers/sql/Database.ts"
import { DatabaseConfig } from "#layers/sql/DatabaseConfig.ts"
import { isTransientFault } from "#layers/sql/isDatabaseFault.ts"
import * as Migrations from "#layers/sql/Migrations.ts"
import { allFinished, makeWorkflow, startEngine } from "#test/layers/engine/cluster/engine.ts"
import { postgresServer } from "#test/fault/support/PostgresServer.ts"

const databaseOn = (url: string, maxConnections: number) =>
  Migrations.layer.pipe(
    Layer.provideMerge(Database.layer),
    Layer.provide(Layer.succeed(DatabaseConfig, { url: Redacted.make(url), dataDir: "", maxConnections }))
  )

describe("a PostgreSQL server", () => {
  if (postgresServer === undefined) {
    it.skip("skipped because initdb, postgres and pg_basebackup are not installed", () => {})
    return
  }
  const newServer = postgresServer

  it.live("that crashes twice and is started again ends no run, and what commits with its step is done once", () =>
    Effect.gen(function* () {
      const server = yield* newServer
      yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* sql`CREATE TABLE done (key text NOT NULL, step int NOT NULL)`
        const workflow = makeWorkflow("Restarted")
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
        const count = Effect.map(
          sql<{ readonly count: number }>`SELECT count(*)::int AS count FROM done`,
          ([row]) => row!.count
        )
        for (const reached of [20, 100]) {
          yield* Effect.repeat(count, { until: (done) => done >= reached })
          yield* server.crash
          yield* Effect.sleep("1 second")
          yield* server.start
          yield* Effect.eventually(count)
        }
        yield* allFinished(workflow)
        yield* engine.stop
        assert.strictEqual(defects, 0)
        assert.deepStrictEqual(
          yield* sql`SELECT count(*)::int AS steps, count(DISTINCT (key, step))::int AS distinct FROM done`,
          [{ steps: 200, distinct: 200 }]
        )
      }).pipe(Effect.provide(databaseOn(server.url, 10)))
    }).pipe(Effect.scoped, Effect.provide(Layer.mergeAll(SecureRandom.layerWebCrypto, Logger.layer([]))))
  )

  it.live("ends what holds a pool of which nothing is left, so that whoever waits for a connection gets one", () =>
    Effect.gen(function* () {
      const server = yield* newServer
      yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const begun = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
        const holders = yield* Effect.forEach(begun, (one) =>
          sql`SET LOCAL statement_timeout = 2000`.pipe(
            Effect.andThen(Deferred.succeed(one, undefined)),
            Effect.andThen(sql`SELECT pg_sleep(600)`),
            sql.withTransaction,
            Effect.flip,
            Effect.forkChild
          )
        )
        yield* Effect.forEach(begun, (one) => Deferred.await(one))
        const waiting = Array.from(
          { length: 20 },
          (_, place) => sql<{ readonly place: number }>`SELECT ${place}::int AS place`
        )
        const answers = yield* Effect.all(waiting, { concurrency: "unbounded" })
        assert.deepStrictEqual(
          answers.flat().map(({ place }) => place),
          Array.from(waiting.keys())
        )
        const errors = yield* Effect.forEach(holders, (holder) => Fiber.join(holder))
        assert.isTrue(errors.every(isTransientFault), "what was ended is a fault of the database")
      }).pipe(Effect.provide(databaseOn(server.url, 2)))
    }).pipe(Effect.scoped)
  )
})
