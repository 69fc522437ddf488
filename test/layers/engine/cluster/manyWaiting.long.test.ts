/** Ten thousand runs that wait: what they cost a process is counted, not measured. */
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Layer, Logger, Metric, Schema } from "effect"
import { ClusterMetrics } from "effect/cluster"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { Activity, DurableClock } from "effect/workflow"
import { databaseLayer } from "#bench/http/benchDatabase.ts"
import { makeWorkflow, startEngine } from "#test/layers/engine/cluster/engine.ts"
import { newServerDatabase } from "#test/support/database.ts"
import { patience } from "#test/support/suite/patience.ts"

const waiting = 10_000
/** Runs that have a fiber and a mailbox in this process. */
const entitiesOfType = Metric.withAttributes(ClusterMetrics.entities, { type: "Workflow/Patient" })

const counts = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql<{ readonly asleep: number; readonly claimed: number; readonly begins: number; readonly steps: number }>`
    SELECT count(*) FILTER (WHERE NOT is_claimed AND wake_at > now() + interval '1 hour')::int AS asleep,
      count(*) FILTER (WHERE is_claimed)::int AS claimed, coalesce(sum(generation), 0)::int AS begins,
      (SELECT count(*)::int FROM workflow_steps) AS steps
    FROM workflow_messages WHERE tag = 'run'`
).pipe(Effect.map(([row]) => row!))

describe("ten thousand runs that wait", () => {
  if (newServerDatabase === undefined) {
    it.skip("skipped because TEST_DATABASE_URL is not set", () => {})
    return
  }
  const newDatabase = newServerDatabase

  it.live(
    "hold no slot and nothing in memory, are not begun before their time, and let another run through at once",
    () =>
      Effect.gen(function* () {
        const url = yield* newDatabase
        yield* Effect.gen(function* () {
          const workflow = makeWorkflow("Patient")
          const ended: Array<string> = []
          const engine = yield* startEngine(
            workflow,
            (key) =>
              Effect.gen(function* () {
                yield* Activity.make({ name: "poll", success: Schema.Void, execute: Effect.void })
                if (key === "hasty") return void ended.push(key)
                yield* DurableClock.sleep({
                  name: "wait",
                  duration: Duration.days(1),
                  inMemoryThreshold: Duration.zero
                })
                ended.push(key)
              }),
            256
          )
          yield* Effect.forEach(
            Array.from({ length: waiting }, (_, index) => `${index}`),
            engine.launch,
            { concurrency: 256, discard: true }
          )
          yield* Effect.repeat(Effect.delay(counts, "100 millis"), { until: ({ asleep }) => asleep === waiting }).pipe(
            Effect.timeout(patience)
          )
          const atRest = yield* counts
          assert.deepInclude(atRest, { asleep: waiting, claimed: 0, steps: 2 * waiting })
          // On a busy machine a claim may run out while thousands are launched, and then its run begins once more.
          assert.isAtLeast(atRest.begins, waiting)
          assert.strictEqual(engine.runs.size(), 0, "no slot is held")

          yield* engine.launch("hasty")
          yield* Effect.repeat(
            Effect.sync(() => ended),
            { until: (keys) => keys.length === 1 }
          )
          assert.deepStrictEqual(ended, ["hasty"])

          // The cluster drops what is idle after a while.
          const resident = Effect.map(Metric.value(entitiesOfType), ({ value }) => Number(value))
          yield* Effect.repeat(Effect.delay(resident, "200 millis"), { until: (entities) => entities === 0 }).pipe(
            Effect.timeout(patience)
          )
          const later = yield* counts
          assert.deepStrictEqual(
            later,
            { asleep: waiting, claimed: 0, begins: atRest.begins + 1, steps: 2 * waiting + 1 },
            "none of them was read meanwhile"
          )
          yield* engine.stop
        }).pipe(Effect.provide(Layer.mergeAll(databaseLayer(url), SecureRandom.layerWebCrypto, Logger.layer([]))))
      }).pipe(Effect.scoped)
  )
})
