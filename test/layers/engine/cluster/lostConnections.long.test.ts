/** A PostgreSQL server whose connections break while runs go on. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Logger } from "effect"
import { ClusterSchema } from "effect/cluster"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { Activity } from "effect/workflow"
import { databaseLayer } from "#bench/http/benchDatabase.ts"
import { allFinished, makeWorkflow, startEngine } from "#test/layers/engine/cluster/engine.ts"
import { newServerDatabase } from "#test/support/database.ts"

describe("a PostgreSQL server that drops every connection again and again", () => {
  if (newServerDatabase === undefined) {
    it.skip("skipped because TEST_DATABASE_URL is not set", () => {})
    return
  }
  const newDatabase = newServerDatabase

  it.live("loses no run, and lets none fail", () =>
    Effect.gen(function* () {
      const url = yield* newDatabase
      yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const workflow = makeWorkflow("Cut")
        const done = new Map<string, number>()
        let defects = 0
        const engine = yield* startEngine(workflow, (key) =>
          Effect.gen(function* () {
            for (let step = 0; step < 5; step++) {
              const body = Effect.andThen(Effect.orDie(sql`SELECT pg_sleep(0.01)`), Effect.void)
              yield* Activity.make({ name: `plain/${step}`, execute: body })
              yield* Activity.make({ name: `together/${step}`, execute: body }).annotate(
                ClusterSchema.WithTransaction,
                true
              )
            }
            done.set(key, (done.get(key) ?? 0) + 1)
          }).pipe(Effect.tapDefect(() => Effect.sync(() => (defects += 1))))
        )
        const keys = Array.from({ length: 40 }, (_, index) => `${index}`)
        const cut = sql`
            SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE datname = current_database() AND pid <> pg_backend_pid()`
        yield* Effect.forEach(keys, (key) => Effect.eventually(Effect.sandbox(engine.launch(key))), {
          concurrency: 40
        })
        for (let times = 0; times < 10; times++) {
          yield* Effect.sleep("100 millis")
          yield* Effect.ignore(cut)
        }
        yield* allFinished(workflow)
        yield* engine.stop
        assert.strictEqual(done.size, keys.length)
        assert.strictEqual(defects, 0)
      }).pipe(Effect.provide(Layer.mergeAll(databaseLayer(url), SecureRandom.layerWebCrypto, Logger.layer([]))))
    }).pipe(Effect.scoped)
  )
})
