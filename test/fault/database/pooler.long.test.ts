/** The engine, and the whole service, behind poolers that give each transaction another session of the server. */
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
import { pgBouncer } from "#test/fault/support/PgBouncer.ts"
import { TransactionPooler } from "#test/fault/support/TransactionPooler.ts"
import {
  included,
  createStrategy,
  enroll,
  finishedOperation,
  fund,
  newOwner,
  rebalance
} from "#test/support/journey.ts"
import { startWorld, worldFolder } from "#test/support/World.ts"

/** What both kinds of poolers answer about themselves. */
interface Pooler {
  readonly port: number
}

const poolers = {
  "a pooler by transaction that changes sessions whenever it can": (url: string) =>
    Effect.tap(TransactionPooler.make(url, 4), (pooler) =>
      Effect.addFinalizer(() =>
        Effect.sync(() => assert.isAbove(pooler.changes, 60, "transactions of a connection went to several sessions"))
      )
    ),
  "PgBouncer with pool_mode = transaction": pgBouncer === undefined ? undefined : (url: string) => pgBouncer!(url, 4)
}

const through = (url: string, { port }: Pooler) => {
  const pooled = new URL(url)
  pooled.hostname = "127.0.0.1"
  pooled.port = `${port}`
  return pooled.href
}

for (const [name, newPooler] of Object.entries(poolers))
  describe(name, () => {
    if (newServerDatabase === undefined || newPooler === undefined) {
      const missing = newPooler === undefined ? "pgbouncer is not installed" : "TEST_DATABASE_URL is not set"
      it.skip(`skipped because ${missing}`, () => {})
      return
    }
    const newDatabase = newServerDatabase

    it.live(
      "runs operations: no statement is kept for the next transaction, and locks of shards go to the server itself",
      () =>
        Effect.gen(function* () {
          const directUrl = yield* newDatabase
          const pooler = yield* newPooler(directUrl)
          const direct = Context.get(yield* Layer.build(Layer.fresh(databaseLayer(directUrl))), SqlClient.SqlClient)
          const behind = Database.layer.pipe(
            Layer.provide(
              Layer.succeed(DatabaseConfig, {
                url: Redacted.make(through(directUrl, pooler)),
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
            const [sessions] = yield* direct<{ readonly count: number }>`
              SELECT count(*)::int AS count FROM pg_stat_activity
              WHERE datname = current_database() AND application_name LIKE 'ballast %'
                AND application_name <> current_setting('application_name')`
            assert.isAtMost(sessions!.count, 4, "ten connections share the sessions of the pooler")
          }).pipe(Effect.provide(behind))
          assert.deepStrictEqual(
            yield* direct`SELECT count(*)::int AS steps, count(DISTINCT (key, step))::int AS distinct FROM done`,
            [{ steps: 180, distinct: 180 }]
          )
        }).pipe(Effect.scoped, Effect.provide(Layer.mergeAll(SecureRandom.layerWebCrypto, Logger.layer([]))))
    )

    it.live(
      "serves the whole service: portfolios are enrolled and traded at once, and each operation is included once",
      () =>
        Effect.gen(function* () {
          const directUrl = yield* newDatabase
          const pooler = yield* newPooler(directUrl)
          const { dataDir } = yield* Effect.acquireRelease(Effect.promise(worldFolder), ({ remove }) =>
            Effect.promise(remove)
          )
          const world = yield* Effect.acquireRelease(
            Effect.promise(() =>
              startWorld(dataDir, { DATABASE_URL: through(directUrl, pooler), DATABASE_DIRECT_URL: directUrl })
            ),
            (started) => Effect.promise(() => started.stop())
          )
          yield* Effect.promise(async () => {
            const strategyId = await createStrategy(world)
            const portfolios = await Promise.all(
              Array.from({ length: 4 }, async () => {
                const portfolio = await enroll(world, { strategyId, owner: newOwner() })
                await fund(world, portfolio.accounts, 1_000n)
                return { ...portfolio, operationId: await rebalance(world, portfolio.portfolioId) }
              })
            )
            for (const { accounts, operationId, portfolioId } of portfolios) {
              const operation = await finishedOperation(world, portfolioId, operationId)
              assert.strictEqual(operation.outcome, "traded", JSON.stringify(operation))
              assert.deepStrictEqual(await included(world, accounts), [1, 1])
            }
          })
        }).pipe(Effect.scoped, Effect.provide(SecureRandom.layerWebCrypto))
    )
  })
