/**
 * Processes whose machines disagree about the time by two days, on one PostgreSQL server: what one of them leaves is
 * due for the others when it says, and the one that is wrong is not ready.
 */
import { assert, describe, it } from "@effect/vitest"
import { Clock, Context, DateTime, Duration, Effect, Layer, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { DurableClock } from "effect/workflow"
import { ChainNodes } from "#domain/chain/ChainNodes.ts"
import { Readiness } from "#domain/health/Readiness.ts"
import { Scheduler } from "#domain/rebalance/Scheduler.ts"
import { StallMonitor } from "#domain/relay/StallMonitor.ts"
import { DatabaseClock } from "#layers/sql/DatabaseClock.ts"
import { allFinished, makeWorkflow, startEngine } from "#test/layers/engine/cluster/engine.ts"
import { newServerDatabase, storesOn } from "#test/support/database.ts"
import { patience } from "#test/support/suite/patience.ts"

const days = (count: number) => count * 86_400_000

/** A machine whose wall clock is so far ahead; it counts as others do. */
const machine = (ahead: number) =>
  Layer.effect(
    Clock.Clock,
    Effect.map(Clock.Clock, (real): Clock.Clock => {
      const millis = () => real.currentTimeMillisUnsafe() + ahead
      const nanos = () => real.currentTimeNanosUnsafe() + BigInt(ahead) * 1_000_000n
      return {
        currentTimeMillisUnsafe: millis,
        currentTimeMillis: Effect.sync(millis),
        currentTimeNanosUnsafe: nanos,
        currentTimeNanos: Effect.sync(nanos),
        monotonicTimeNanosUnsafe: () => real.monotonicTimeNanosUnsafe(),
        monotonicTimeNanos: real.monotonicTimeNanos,
        sleep: (duration) => real.sleep(duration)
      }
    })
  )

/** What the service is built on, on such a machine. */
const processOn = (url: string, ahead: number) =>
  Layer.build(
    Layer.fresh(DatabaseClock.layer.pipe(Layer.provideMerge(storesOn(url)), Layer.provideMerge(machine(ahead))))
  )

const ReadinessTest = Readiness.layer.pipe(
  Layer.provide(
    Layer.mergeAll(
      Layer.mock(Scheduler, { lastTickAt: DateTime.now }),
      Layer.succeed(ChainNodes, { behind: Effect.succeed([]) }),
      Layer.mock(StallMonitor, { ages: Effect.succeed({ moving: 0, retrying: 0 }), low: Effect.succeed([]) })
    )
  )
)

describe("a machine whose clock is two days off", () => {
  if (newServerDatabase === undefined) {
    it.skip("skipped because TEST_DATABASE_URL is not set", () => {})
    return
  }
  const newDatabase = newServerDatabase

  it.live.each([days(2), days(-2)])("by %d ms leaves runs that others go on with at their time", (ahead) =>
    Effect.gen(function* () {
      const url = yield* newDatabase
      const [wrong, right] = [yield* processOn(url, ahead), yield* processOn(url, 0)]
      const workflow = makeWorkflow(`Skewed ${ahead}`)
      const body = () =>
        DurableClock.sleep({ name: "wait", duration: Duration.seconds(2), inMemoryThreshold: Duration.zero })
      const first = yield* startEngine(workflow, body).pipe(Effect.provide(wrong))
      yield* first.launch("left")
      const sql = Context.get(right, SqlClient.SqlClient)
      const sleeping = sql`SELECT 1 FROM workflow_messages WHERE tag = 'run' AND NOT is_claimed AND reply IS NOT NULL`
      yield* sleeping.pipe(
        Effect.filterOrFail((rows) => rows.length === 1),
        Effect.retry(Schedule.spaced("20 millis")),
        Effect.timeout(patience)
      )
      yield* first.stop
      const [left] = yield* sql<{ readonly seconds: number }>`
        SELECT extract(epoch FROM wake_at - clock_timestamp())::float8 AS seconds FROM workflow_messages
        WHERE tag = 'run'`
      assert.isBelow(Math.abs(left!.seconds), 60, "it is due by the time of the database")
      const second = yield* startEngine(workflow, body).pipe(Effect.provide(right))
      yield* Effect.provide(allFinished(workflow), right)
      yield* second.stop
    }).pipe(Effect.scoped)
  )

  it.live("is not ready and says by how much, and one that is right is", () =>
    Effect.gen(function* () {
      const url = yield* newDatabase
      const readiness = (ahead: number) =>
        Effect.gen(function* () {
          const context = yield* processOn(url, ahead)
          const { check } = Context.get(yield* Effect.provide(Layer.build(ReadinessTest), context), Readiness)
          const { checks, ready } = yield* Effect.provide(check, context)
          return { ready, clock: checks["clock"]! }
        })
      const wrong = yield* readiness(days(2))
      assert.isFalse(wrong.ready)
      assert.match(wrong.clock.detail, /^this machine's clock is 17\d{4}\.\d s ahead of the shared time; set it right/u)
      const right = yield* readiness(0)
      assert.isTrue(right.ready)
      assert.isTrue(right.clock.ok)
    }).pipe(Effect.scoped)
  )
})
