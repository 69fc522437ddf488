/** How long the runs of a killed process stand still, and how long a restarted process takes for what was in flight. */
import { Console, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { countFinished, makeBroadcasts, owned, startEngine, until } from "#bench/engine/engines.ts"
import { fill, fillGrants, makeDue } from "#bench/engine/fill.ts"
import { spreadHeading, spreadLine } from "#bench/engine/spreadLine.ts"
import { benchDatabase, databaseLayer } from "#bench/http/benchDatabase.ts"
import { spreadOf } from "#bench/http/spread.ts"
import { AssetStore } from "#layers/sql/asset/AssetStore.ts"

const kills = 3
const inFlight = 1_000
const target = 15

const seconds = (since: number) => (performance.now() - since) / 1000

const world = Effect.fnUntraced(function* (portfolios: number) {
  const url = yield* benchDatabase
  const context = yield* Layer.build(AssetStore.layer.pipe(Layer.provideMerge(databaseLayer(url))))
  yield* Effect.provideContext(Effect.all([fill(4, portfolios), fillGrants(portfolios), makeBroadcasts]), context)
  return { url, context }
})

/** Seconds until every run that the process which was lost worked on is claimed by another one or done. */
const loseOne = (how: "kill" | "stop") =>
  Effect.gen(function* () {
    const { context, url } = yield* world(6_000)
    const options = { url, delayMs: 250, maxRuns: 100, stalls: false }
    const engines = yield* Effect.all(
      [1, 2, 3].map(() => startEngine(options)),
      { concurrency: 3 }
    )
    return yield* Effect.gen(function* () {
      yield* makeDue(6_000)
      yield* until(Effect.map(owned, (rows) => new Set(rows.map(({ owner }) => owner)).size === 3 && rows.length > 200))
      const before = yield* owned
      yield* engines[0]![how]
      const start = performance.now()
      const sql = yield* SqlClient.SqlClient
      const pids = before.map(({ owner }) => Number(owner))
      const living = sql<{ readonly pid: number }>`SELECT DISTINCT pid FROM pg_locks WHERE pid = ANY(${pids}::int[])`
      yield* until(Effect.map(living, (rows) => rows.length === 2))
      const runners = new Set((yield* living).map(({ pid }) => String(pid)))
      const orphans = before.filter(({ owner }) => !runners.has(owner))
      const still = sql`
      SELECT 1 FROM workflow_messages m
      JOIN unnest(${orphans.map(({ executionId }) => executionId)}::text[],
        ${orphans.map(({ generation }) => generation)}::text[])
        AS o (entity_id, generation) ON o.entity_id = m.entity_id AND o.generation::bigint = m.generation
      WHERE m.tag = 'run' AND m.finished_at IS NULL`
      yield* until(Effect.map(still, (rows) => rows.length === 0))
      return seconds(start)
    }).pipe(Effect.provideContext(context))
  }).pipe(Effect.scoped)

/** Seconds from the restart of the only process to the end of all runs that stood in the middle when it was killed. */
const restart = Effect.gen(function* () {
  const { context, url } = yield* world(inFlight)
  const options = { url, delayMs: 1, maxRuns: inFlight, stalls: true }
  const first = yield* startEngine(options)
  return yield* Effect.gen(function* () {
    yield* makeDue(inFlight)
    const sql = yield* SqlClient.SqlClient
    const signed = sql`SELECT 1 FROM relayed_actions`
    yield* until(Effect.map(signed, (rows) => rows.length === inFlight))
    yield* first.kill
    const start = performance.now()
    yield* startEngine({ ...options, stalls: false })
    yield* until(Effect.map(countFinished, (count) => count === inFlight))
    return seconds(start)
  }).pipe(Effect.provideContext(context))
}).pipe(Effect.scoped)

export const failover = Effect.gen(function* () {
  const moved = yield* Effect.replicateEffect(loseOne("kill"), kills)
  const woken = yield* Effect.replicateEffect(loseOne("stop"), kills)
  const recovered = yield* restart
  yield* Console.log(
    [
      "",
      `kill -9 of one of three processes, ${kills} times; about 100 runs in flight in each`,
      spreadHeading,
      spreadLine("seconds until all of its runs moved", spreadOf(moved), 1),
      spreadLine("the same of one that is stopped (SIGSTOP)", spreadOf(woken), 1),
      `  Target: below ${target} s`,
      `Restart of a single process with ${inFlight.toLocaleString("en-US")} runs in flight: all done after ${recovered.toFixed(1)} s`
    ].join("\n")
  )
})
