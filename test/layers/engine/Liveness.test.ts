import { assert, it } from "@effect/vitest"
import { Context, Deferred, Duration, Effect, Fiber, Layer, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { Liveness } from "#domain/health/Liveness.ts"
import { LivenessLive, LivenessSettings } from "#layers/engine/LivenessLive.ts"
import { TestDatabase } from "#test/support/database.ts"
import { MovableClock } from "#test/support/MovableClock.ts"
import { patience } from "#test/support/suite/patience.ts"

const limit = Duration.seconds(180)
const LivenessTest = LivenessLive.pipe(Layer.provide(Layer.succeed(LivenessSettings, { within: limit })))

type Check = Liveness["Service"]["check"]

const until = (check: Check, isReached: (found: Effect.Success<Check>) => boolean) =>
  check.pipe(
    Effect.filterOrFail(isReached),
    Effect.retry(Schedule.spaced("20 millis")),
    Effect.timeout(patience),
    Effect.orDie
  )

it.live("a process is live while it reaches its database and its own loop, and says which it misses", () =>
  Effect.gen(function* () {
    const { advance } = yield* MovableClock
    yield* Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { check } = Context.get(yield* Layer.build(LivenessTest), Liveness)
      assert.isTrue((yield* check).live)

      const held = yield* Deferred.make<void>()
      const release = yield* Deferred.make<void>()
      // The one connection there is.
      const holder = yield* sql`SELECT 1`.pipe(
        Effect.andThen(Deferred.succeed(held, undefined)),
        Effect.andThen(Deferred.await(release)),
        sql.withTransaction,
        Effect.forkChild
      )
      yield* Deferred.await(held)
      advance(181_000)
      const stopped = yield* check
      assert.deepStrictEqual([stopped.live, stopped.checks.loop.ok, stopped.checks.database.ok], [false, false, false])
      assert.match(stopped.checks.loop.detail, /^had its turn 18\d s ago$/u)

      const cutOff = yield* until(check, ({ checks }) => checks.loop.ok)
      assert.isFalse(cutOff.live, "its loop turns, and its database does not answer")
      assert.match(cutOff.checks.database.detail, /^answered 18\d s ago$/u)

      yield* Deferred.succeed(release, undefined)
      yield* Fiber.join(holder)
      assert.isTrue((yield* until(check, ({ live }) => live)).checks.database.ok)
    }).pipe(Effect.provide(TestDatabase), Effect.scoped)
  }).pipe(Effect.provide(MovableClock.layer))
)
