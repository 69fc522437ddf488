/** The engine behind a pooler that gives each transaction another session of the server. */
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Logger, Redacted } from "effect"
import { ClusterSchema } from "effect/cluster"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { Activity } from "effect/workflow"
import { databaseLayer } from "#bench/http/benchDatabase.ts"
import * as Database from "#layers/sql/Database.ts"
import { DatabaseConfig } from "#layers/sql/DatabaseConfig.ts"
import { allFinished, makeWorkflow, startEngine } from "#test/layers/engine/cluster/engine.ts"
import { newServerDatabase } from "#test/support/database.ts"
import { TransactionPooler } from "#test/fault/support/TransactionPooler.ts"

describe("a pooler by transaction", () => {
  if (newServerDatabase === undefined) {
    it.skip("skipped because TEST_DATABASE_URL is not set", () => {})
    return
  }
  const newDatabase = newServerDatabase

  it.live(
    "carries runs: no statement is kept for the next transaction, and locks of shards go to the server itself",
    () =>
      Effect.gen(function* () {
        const directUrl = yield* newDatabase
        const pooler = yield* TransactionPooler.make(directUrl, 4)
        const url = new URL(directUrl)
        url.hostname = "127.0.0.1"
        url.port = `${pooler.port}`
        const direct = Context.get(yield* Layer.build(Layer.fresh(databaseLayer(directUrl))), SqlClient.SqlClient)
        const behind = Database.layer.pipe(
          Layer.provide(
            Layer.succeed(DatabaseConfig, {
              url: Redacted.make(url.href),
              directUrl: Redacted.make(directUrl),
              dataDir: "",
              maxConnections: 10
            })
          )
        )
        yield* direct`CREATE TABLE done (key text NOT NULL, step int NOT NULL)`
        yield* Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const workflow = makeWorkflow("Pooled")
          let defects = 0
          const engine = yield* startEngine(workflow, (key) =>
            Effect.gen(function* () {
              for (let step = 0; step < 3; step++) {
                yield* Activity.make({
                  name: `together/${step}`,
                  execute: Effect.asVoid(Effect.orDie(sql`INSERT INTO done VALUES (${key}, ${step})`))
                }).annotate(ClusterSchema.WithTransaction, true)
              }
            }).pipe(Effect.tapDefect(() => Effect.sync(() => (defects += 1))))
          )
          const keys = Array.from({ length: 60 }, (_, index) => `${index}`)
          yield* Effect.forEach(keys, engine.launch, { concurrency: "unbounded", discard: true })
          yield* allFinished(workflow)
          yield* engine.stop
          assert.strictEqual(defects, 0)
          const prepared = yield* Effect.replicateEffect(
            sql`SELECT name FROM pg_prepared_statements WHERE name <> ''`,
            8
          )
          assert.deepStrictEqual(prepared.flat(), [], "no session of the server keeps a statement")
        }).pipe(Effect.provide(behind))
        assert.isAbove(pooler.changes, 60, "transactions of a connection went to several sessions")
        assert.deepStrictEqual(
          yield* direct`SELECT count(*)::int AS steps, count(DISTINCT (key, step))::int AS distinct FROM done`,
          [{ steps: 180, distinct: 180 }]
        )
      }).pipe(Effect.scoped, Effect.provide(Layer.mergeAll(SecureRandom.layerWebCrypto, Logger.layer([])))),
    120_000
  )
})
