/**
 * A process stands still in the middle of a run (SIGSTOP): another one takes the run over, and what wakes up changes
 * nothing of it.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { readFileSync } from "node:fs"
import { countFinished, makeBroadcasts, startEngine, until } from "#bench/engine/engines.ts"
import { fill, fillGrants, makeDue } from "#bench/engine/fill.ts"
import { databaseLayer } from "#bench/http/benchDatabase.ts"
import { startProcess } from "#bench/http/ownedProcess.ts"
import { AssetStore } from "#layers/sql/asset/AssetStore.ts"
import { newServerDatabase } from "#test/support/database.ts"
import { patience } from "#test/support/suite/patience.ts"

const program = new URL("support/frozenProcess.ts", import.meta.url)

const isStopped = (pid: number) => /^State:\s+T/m.test(readFileSync(`/proc/${pid}/status`, "utf8"))

/** All that a run leaves: states in order, attempts and what the chain said of them, the steps. */
const traces = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return {
    states:
      yield* sql`SELECT operation_id, sequence, kind, payload FROM operation_events ORDER BY operation_id, sequence`,
    attempts:
      yield* sql`SELECT operation_id, attempt, status, receipt FROM relayed_actions ORDER BY operation_id, attempt`,
    steps: yield* sql`SELECT execution_id, step, result FROM workflow_steps ORDER BY execution_id, step`,
    runs: yield* sql`SELECT entity_id, generation, finished_at, reply FROM workflow_messages ORDER BY entity_id, tag`
  }
})

describe("a process that stands still on one PostgreSQL server", () => {
  if (newServerDatabase === undefined) {
    it.skip("skipped because TEST_DATABASE_URL is not set", () => {})
    return
  }
  const newDatabase = newServerDatabase

  it.live("loses its runs to another one, and changes nothing of them when it goes on", () =>
    Effect.gen(function* () {
      const url = yield* newDatabase
      yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* fill(1, 4)
        yield* fillGrants(4)
        yield* makeBroadcasts
        const frozen = yield* startProcess("A frozen engine", program, { ENGINE_DATABASE_URL: url })
        // Stopped by a test that fails, it could not be ended in order.
        yield* Effect.addFinalizer(() => Effect.sync(() => frozen.isRunning() && process.kill(frozen.pid, "SIGCONT")))
        yield* frozen.ask({})
        yield* makeDue(1)
        yield* until(Effect.sync(() => isStopped(frozen.pid))).pipe(Effect.timeout(patience))
        assert.strictEqual(yield* countFinished, 0)

        yield* startEngine({ url, delayMs: 0, maxRuns: 10, stalls: false })
        yield* until(Effect.map(countFinished, (count) => count === 1)).pipe(Effect.timeout(patience))
        const unfinished = sql`SELECT 1 FROM workflow_messages WHERE finished_at IS NULL`
        yield* until(Effect.map(unfinished, (rows) => rows.length === 0)).pipe(Effect.timeout(patience))
        const before = yield* traces
        assert.deepStrictEqual(yield* sql`SELECT state FROM operations`, [{ state: "completed" }])

        process.kill(frozen.pid, "SIGCONT")
        // It has gone on, was refused, and joined the others again under its own locks.
        yield* until(Effect.map(frozen.ask({}), (answer) => (answer as { readonly wentOn: number }).wentOn > 0)).pipe(
          Effect.timeout(patience)
        )
        const holders = sql`
            SELECT DISTINCT l.pid FROM pg_locks l JOIN pg_database d ON d.oid = l.database
            WHERE l.locktype = 'advisory' AND l.objsubid = 2 AND d.datname = current_database()`
        yield* until(Effect.map(holders, (rows) => rows.length === 2)).pipe(Effect.timeout(patience))
        assert.deepStrictEqual(yield* traces, before)
      }).pipe(Effect.provide(AssetStore.layer.pipe(Layer.provideMerge(databaseLayer(url)))))
    }).pipe(Effect.scoped)
  )
})
