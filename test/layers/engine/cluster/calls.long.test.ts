/** Two processes on a PostgreSQL server: one launches runs, the other carries them out, and hardly ever polls. */
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Layer, Logger, Schedule } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { databaseLayer } from "#bench/http/benchDatabase.ts"
import { PollInterval } from "#layers/engine/cluster/Shards.ts"
import { newServerDatabase } from "#test/support/database.ts"
import { allFinished, makeWorkflow, startEngine } from "#test/layers/engine/cluster/engine.ts"

const keys = Array.from({ length: 20 }, (_, index) => `${index}`)

/** The sessions that listen for notifications. */
const hearing = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql<{ readonly pid: number }>`
    SELECT pid FROM pg_stat_activity WHERE application_name = 'ballast-calls' AND datname = current_database()
    AND query LIKE 'LISTEN%'`
)

describe("runs that another process launches on one PostgreSQL server", () => {
  if (newServerDatabase === undefined) {
    it.skip("skipped because TEST_DATABASE_URL is not set", () => {})
    return
  }
  const newDatabase = newServerDatabase

  const onServer = <A, E, R>(work: Effect.Effect<A, E, R>) =>
    Effect.flatMap(newDatabase, (url) => Effect.provide(work, databaseLayer(url))).pipe(
      Effect.scoped,
      Effect.provide(Layer.mergeAll(SecureRandom.layerWebCrypto, Logger.layer([])))
    )

  it.live("begin when their process is called, also after its listening connection was lost", () =>
    onServer(
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const workflow = makeWorkflow("Called")
        const launcher = yield* startEngine(workflow, () => Effect.void, 0)
        const worker = yield* startEngine(workflow, () => Effect.void)
        yield* Effect.forEach(keys, launcher.launch, { concurrency: "unbounded", discard: true })
        yield* allFinished(workflow)

        const before = (yield* hearing).map(({ pid }) => pid)
        assert.isNotEmpty(before)
        yield* sql`SELECT pg_terminate_backend(pid) FROM unnest(${before}::int[]) AS pid`
        yield* hearing.pipe(
          Effect.repeat({
            until: (now) => now.length === before.length && now.every(({ pid }) => !before.includes(pid)),
            schedule: Schedule.spaced("50 millis")
          })
        )
        yield* Effect.forEach(keys, (key) => launcher.launch(`again ${key}`), { discard: true })
        yield* allFinished(workflow)
        yield* worker.stop
        yield* launcher.stop
      }).pipe(Effect.provideService(PollInterval, Duration.hours(1)))
    )
  )

  it.live("begin at the next poll when no process gets the notification", () =>
    onServer(
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const workflow = makeWorkflow("Unheard")
        const launcher = yield* startEngine(workflow, () => Effect.void, 0)
        const worker = yield* startEngine(workflow, () => Effect.void)
        yield* sql`
            SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE application_name = 'ballast-calls' AND datname = current_database()`.pipe(
          Effect.repeat(Schedule.spaced("20 millis")),
          Effect.forkScoped
        )
        yield* Effect.forEach(keys, (key) => Effect.andThen(launcher.launch(key), Effect.sleep("20 millis")), {
          discard: true
        })
        yield* allFinished(workflow)
        yield* worker.stop
        yield* launcher.stop
      })
    )
  )
})
