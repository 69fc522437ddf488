/** Engine processes on one database, and where its work stands. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { startProcess } from "#bench/http/ownedProcess.ts"

export interface EngineOptions {
  readonly url: string
  readonly delayMs: number
  readonly maxRuns: number
  readonly stalls: boolean
}

const program = new URL("engineProcess.ts", import.meta.url)

/** Starts an engine process and answers when it works. */
export const startEngine = Effect.fnUntraced(function* ({ delayMs, maxRuns, stalls, url }: EngineOptions) {
  const engine = yield* startProcess("An engine", program, {
    ENGINE_DATABASE_URL: url,
    DELAY_MS: `${delayMs}`,
    MAX_RUNS: `${maxRuns}`,
    STALLS: `${stalls}`
  })
  yield* engine.ask({})
  // Stopped, it could not be ended in order.
  yield* Effect.addFinalizer(() => Effect.sync(() => engine.isRunning() && process.kill(engine.pid, "SIGCONT")))
  return {
    kill: Effect.sync(() => process.kill(engine.pid, "SIGKILL")),
    stop: Effect.sync(() => process.kill(engine.pid, "SIGSTOP"))
  }
})

/** What chains that are not there heard of. */
export const makeBroadcasts = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`CREATE TABLE broadcasts (action_hash text COLLATE "C" NOT NULL)`
)

export interface Owned {
  readonly executionId: string
  /** The server's process behind the locks of a runner. */
  readonly owner: string
  readonly generation: string
}

/** Runs that a runner works on: those that are claimed, with who holds the lock of their shard. */
export const owned = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql<Owned>`
    SELECT m.entity_id AS "executionId", l.pid::text AS owner, m.generation::text AS generation
    FROM workflow_messages m
    JOIN pg_locks l ON l.locktype = 'advisory' AND l.objsubid = 2
    AND l.objid = 1000000 + split_part(m.shard, ':', 2)::int
    JOIN pg_database d ON d.oid = l.database AND d.datname = current_database()
    WHERE m.is_claimed AND m.finished_at IS NULL AND m.tag = 'run'`
)

export const countFinished = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ readonly count: number }>`
    SELECT count(*)::int AS count FROM operations WHERE finished_at IS NOT NULL`
  return row!.count
})

/** Waits in real time until `isTrue`; polls often. */
export const until = <E, R>(isTrue: Effect.Effect<boolean, E, R>) =>
  Effect.gen(function* () {
    while (!(yield* isTrue)) yield* Effect.sleep("25 millis")
  })
