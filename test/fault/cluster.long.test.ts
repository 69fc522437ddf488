/**
 * Three processes share a database; one is killed with -9 in the middle of many runs. Each run ends once, and nothing
 * is lost.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { countFinished, makeBroadcasts, owned, startEngine, until } from "#bench/engine/engines.ts"
import { fill, fillGrants, makeDue } from "#bench/engine/fill.ts"
import { databaseLayer } from "#bench/http/benchDatabase.ts"
import { AssetStore } from "#layers/sql/asset/AssetStore.ts"
import { newServerDatabase } from "#test/support/database.ts"
import { patience } from "#test/support/suite/patience.ts"

const runs = 300

describe("three engines on one PostgreSQL server", () => {
  if (newServerDatabase === undefined) {
    it.skip("skipped because TEST_DATABASE_URL is not set", () => {})
    return
  }
  const newDatabase = newServerDatabase

  it.live("one of which is killed complete every operation once", () =>
    Effect.gen(function* () {
      const url = yield* newDatabase
      const options = { url, delayMs: 100, maxRuns: 40, stalls: false }
      yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* fill(3, runs)
        yield* fillGrants(runs)
        yield* makeBroadcasts
        // Started together, so that they take turns wherever only one may go.
        const engines = yield* Effect.all(
          [1, 2, 3].map(() => startEngine(options)),
          { concurrency: 3 }
        )
        yield* makeDue(runs)
        yield* until(
          Effect.map(owned, (rows) => rows.length > 60 && new Set(rows.map(({ owner }) => owner)).size === 3)
        )
        yield* engines[0]!.kill
        assert.isBelow(yield* countFinished, runs, "killed in the middle")
        yield* until(Effect.map(countFinished, (count) => count === runs)).pipe(Effect.timeout(patience))

        const outcomes = yield* sql<{ readonly state: string; readonly operations: number }>`
            SELECT state, count(*)::int AS operations FROM operations GROUP BY state`
        assert.deepStrictEqual(outcomes, [{ state: "completed", operations: runs }])
        const [relayed] = yield* sql<{
          readonly all: number
          readonly operations: number
          readonly hashes: number
        }>`
            SELECT count(*)::int AS all, count(DISTINCT operation_id)::int AS operations,
              count(DISTINCT action_hash)::int AS hashes
            FROM relayed_actions WHERE status = 'succeeded' AND attempt = 1`
        assert.deepStrictEqual(relayed, { all: runs, operations: runs, hashes: runs })
        const [nonces] = yield* sql<{ readonly included: number; readonly used: number; readonly reserved: number }>`
            SELECT (SELECT sum(action_count)::int FROM relayed_transactions) AS included,
              (SELECT count(*)::int FROM relayed_transactions) AS used,
              (SELECT sum(next)::int FROM relayer_nonces) AS reserved`
        assert.strictEqual(nonces?.included, runs, "what a transaction includes is included by no other")
        assert.strictEqual(nonces?.used, nonces?.reserved, "no nonce is left without a transaction")
        const unsigned = yield* sql`
            SELECT action_hash FROM broadcasts EXCEPT SELECT action_hash FROM relayed_actions`
        assert.deepStrictEqual(unsigned, [], "only what was signed and stored was ever sent")
        const ends = yield* sql`
            SELECT operation_id FROM operation_events WHERE payload ->> 'state' = 'completed'
            GROUP BY operation_id HAVING count(*) <> 1`
        assert.deepStrictEqual(ends, [])
      }).pipe(Effect.provide(AssetStore.layer.pipe(Layer.provideMerge(databaseLayer(url)))))
    }).pipe(Effect.scoped)
  )
})
