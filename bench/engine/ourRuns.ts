/**
 * Rebalance runs of the service's engine: claimed as due, planned, traded with the chains that are not there, finished.
 */
import { NodeCrypto } from "@effect/platform-node"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { databaseLayer } from "#bench/http/benchDatabase.ts"
import { makeDue } from "#bench/engine/fill.ts"
import { type Held, instant, noChain } from "#bench/engine/noChain.ts"
import { benchSettings } from "#bench/engine/settings.ts"
import { Scheduler } from "#domain/rebalance/Scheduler.ts"
import { EngineLive } from "#layers/engine/EngineLive.ts"
import { SqlLive } from "#layers/sql/SqlLive.ts"

export const engine = (url: string, held?: Held) =>
  Scheduler.layer.pipe(
    Layer.provideMerge(EngineLive),
    Layer.provideMerge(Layer.mergeAll(SqlLive, noChain(instant, held))),
    Layer.provideMerge(Layer.mergeAll(databaseLayer(url), benchSettings())),
    Layer.provideMerge(NodeCrypto.layer)
  )

const unfinished = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ readonly count: number }>`
    SELECT count(*)::int AS count FROM workflow_messages WHERE finished_at IS NULL`
  return row!.count
})

export const countOperations = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ readonly count: number }>`SELECT count(*)::int AS count FROM operations`
  return row!.count
})

/** Seconds from claiming `count` due portfolios to the end of the last run. */
export const ourRuns = (count: number) =>
  Effect.gen(function* () {
    yield* makeDue(count)
    const scheduler = yield* Scheduler
    const before = yield* countOperations
    const start = performance.now()
    // A tick also launches again what was not begun after some seconds, so that its count is no count of portfolios.
    while ((yield* countOperations) - before < count) {
      yield* scheduler.tick
      yield* Effect.sleep("10 millis")
    }
    while ((yield* unfinished) > 0) yield* Effect.sleep("10 millis")
    return (performance.now() - start) / 1000
  })

/** How many steps a run stores, its acceptance and its end included: what the peers chain. */
export const stepsOfARun = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ readonly steps: number }>`
    SELECT (count(*) / count(DISTINCT execution_id))::int AS steps FROM workflow_steps`
  return row!.steps
})
