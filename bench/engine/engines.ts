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
  return { kill: Effect.sync(() => process.kill(engine.pid, "SIGKILL")) }
})

/** What chains that are not there heard of. */
export const makeBroadcasts = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`CREATE TABLE broadcasts (subject text COLLATE "C" NOT NULL)`
)

export interface Owned {
  readonly executionId: string
  readonly owner: string
}

/** Unfinished executions that a runner owns. */
export const owned = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql<Owned>`
    SELECT execution_id AS "executionId", owner FROM workflow_executions WHERE owner IS NOT NULL AND finished_at IS NULL`
)

export const countFinished = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ readonly count: number }>`
    SELECT count(*)::int AS count FROM operations WHERE finished_at IS NOT NULL`
  return row!.count
})

/** Waits in real time until `isTrue`; looks often. */
export const until = <E, R>(isTrue: Effect.Effect<boolean, E, R>) =>
  Effect.gen(function* () {
    while (!(yield* isTrue)) yield* Effect.sleep("25 millis")
  })
