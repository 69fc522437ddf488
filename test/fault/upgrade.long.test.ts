/**
 * An upgrade in the middle of many runs: a process of the code before the last migration is killed when some wait, some
 * have bytes on their way and some have ended, and one of this tree finishes them, each once.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { execFileSync } from "node:child_process"
import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { countFinished, startEngine, until } from "#bench/engine/engines.ts"
import { databaseLayer } from "#bench/http/benchDatabase.ts"
import { startProcess } from "#bench/http/ownedProcess.ts"
import * as Database from "#layers/sql/Database.ts"
import { DatabaseConfig } from "#layers/sql/DatabaseConfig.ts"
import * as Migrations from "#layers/sql/Migrations.ts"
import { archiveOf, type Commit, formerCommit } from "#test/deploy/support/formerCommit.ts"
import { postgresServer } from "#test/fault/support/PostgresServer.ts"
import { patience } from "#test/support/suite/patience.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))

const former = formerCommit()

const portfolios = 80

/** What the older tree does with its own schema before its engine starts. */
const preparation = `
import { Effect, Layer, Redacted } from "effect"
import { makeBroadcasts } from "#bench/engine/engines.ts"
import { fill, fillGrants, makeDue } from "#bench/engine/fill.ts"
import { databaseLayer } from "#bench/http/benchDatabase.ts"
import { AssetStore } from "#layers/sql/asset/AssetStore.ts"
import * as Migrations from "#layers/sql/Migrations.ts"

const url = process.env.ENGINE_DATABASE_URL
const done = Effect.gen(function* () {
  yield* fill(2, ${portfolios})
  yield* fillGrants(${portfolios})
  yield* makeBroadcasts
  yield* makeDue(${portfolios})
}).pipe(
  Effect.provide(AssetStore.layer.pipe(Layer.provideMerge(Migrations.layer), Layer.provideMerge(databaseLayer(url)))),
  Effect.exit
)
const exit = await Effect.runPromise(done)
process.on("message", () => process.send(exit._tag === "Success" ? "prepared" : String(exit.cause)))
`

/** The older commit in a folder of its own, with the packages of today. */
const olderTree = Effect.fnUntraced(function* (commit: Commit) {
  const folder = yield* Effect.acquireRelease(
    Effect.promise(() => mkdtemp(join(tmpdir(), "ballast-older-"))),
    (made) => Effect.promise(() => rm(made, { recursive: true, force: true }))
  )
  yield* Effect.promise(async () => {
    execFileSync("tar", ["-x", "-C", folder], { input: archiveOf(commit) })
    await symlink(join(root, "node_modules"), join(folder, "node_modules"))
    await writeFile(join(folder, "bench", "engine", "prepare.ts"), preparation)
  })
  return (program: string) => pathToFileURL(join(folder, "bench", "engine", program))
})

/** How many runs are where. */
const places = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql<{
    readonly accepted: number
    readonly signed: number
    readonly ended: number
  }>`
    WITH runs AS (
      SELECT o.finished_at, (SELECT count(*) FROM workflow_steps s
          JOIN workflow_messages m ON m.entity_id = s.execution_id AND m.tag = 'run'
          WHERE m.envelope::jsonb #>> '{payload,operationId}' = o.operation_id) AS steps,
        EXISTS (SELECT FROM relayed_actions a WHERE a.operation_id = o.operation_id) AS is_signed
      FROM operations o
    )
    SELECT count(*) FILTER (WHERE finished_at IS NULL AND steps = 0)::int AS accepted,
      count(*) FILTER (WHERE finished_at IS NULL AND is_signed)::int AS signed,
      count(*) FILTER (WHERE finished_at IS NOT NULL)::int AS ended
    FROM runs`
).pipe(Effect.map(([row]) => row!))

describe("an upgrade from the code before the last migration", () => {
  if (former === undefined || postgresServer === undefined) {
    it.skip("skipped because this copy has no history, or PostgreSQL's programs are not installed", () => {})
    return
  }
  const [commit, newServer] = [former, postgresServer]

  it.live("finishes runs that wait, that are under way and whose bytes were sent, each once", () =>
    Effect.gen(function* () {
      const { url } = yield* newServer
      const program = yield* olderTree(commit)
      const environment = { ENGINE_DATABASE_URL: url, DELAY_MS: "250", MAX_RUNS: "25", STALLS: "false" }
      const preparing = yield* startProcess("The older tree", program("prepare.ts"), environment)
      assert.strictEqual(yield* preparing.ask({}), "prepared")
      const older = yield* startProcess("An older engine", program("engineProcess.ts"), environment)
      yield* older.ask({})
      yield* Effect.gen(function* () {
        // A process that stands still lets nothing go on between the check and its end.
        const isInBetween = Effect.gen(function* () {
          process.kill(older.pid, "SIGSTOP")
          const { accepted, ended, signed } = yield* places
          if (Math.min(accepted, signed, ended) > 1) return true
          process.kill(older.pid, "SIGCONT")
          return false
        })
        yield* until(isInBetween).pipe(Effect.timeout(patience))
        process.kill(older.pid, "SIGKILL")
        yield* until(Effect.sync(() => !older.isRunning()))
        const left = yield* places
        assert.isAbove(left.signed, 0, "bytes are on their way")
        assert.isBelow(left.ended, portfolios)
      }).pipe(Effect.provide(databaseLayer(url)))

      yield* Effect.scoped(
        Layer.build(
          Migrations.layer.pipe(
            Layer.provide(Database.layer),
            Layer.provide(Layer.succeed(DatabaseConfig, { url: Redacted.make(url), dataDir: "", maxConnections: 2 }))
          )
        )
      )
      yield* startEngine({ url, delayMs: 0, maxRuns: 100, stalls: false })
      yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* until(Effect.map(countFinished, (count) => count === portfolios)).pipe(Effect.timeout(patience))
        const outcomes = yield* sql`SELECT state, count(*)::int AS operations FROM operations GROUP BY state`
        assert.deepStrictEqual(outcomes, [{ state: "completed", operations: portfolios }])
        const relayed = yield* sql`
            SELECT count(*)::int AS all, count(DISTINCT operation_id)::int AS operations,
            count(DISTINCT action_hash)::int AS hashes
            FROM relayed_actions WHERE status = 'succeeded' AND attempt = 1`
        assert.deepStrictEqual(relayed, [{ all: portfolios, operations: portfolios, hashes: portfolios }])
        const unsigned = yield* sql`SELECT action_hash FROM broadcasts EXCEPT SELECT action_hash FROM relayed_actions`
        assert.deepStrictEqual(unsigned, [], "only what was signed and stored was ever sent")
        const ends = yield* sql`
            SELECT operation_id FROM operation_events WHERE payload ->> 'state' = 'completed'
            GROUP BY operation_id HAVING count(*) <> 1`
        assert.deepStrictEqual(ends, [])
        assert.deepStrictEqual(
          yield* sql`SELECT count(*)::int AS suspended FROM workflow_messages WHERE suspended_at IS NOT NULL`,
          [{ suspended: 0 }]
        )
      }).pipe(Effect.provide(databaseLayer(url)))
    }).pipe(Effect.scoped)
  )
})
