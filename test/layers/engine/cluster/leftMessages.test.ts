/**
 * Messages that an entity leaves: the cluster ends an entity that has been idle for ten seconds, and what comes between
 * its check and the end is interrupted, or never begins. No reply says so.
 */
import { assert } from "@effect/vitest"
import { Clock, Deferred, Duration, Effect, Layer, Schedule } from "effect"
import { MessageStorage, ShardId } from "effect/cluster"
import { SqlClient } from "effect/sql"
import { Activity, DurableClock } from "effect/workflow"
import { EngineConfig } from "#layers/engine/cluster/EngineConfig.ts"
import { maxTries } from "#layers/engine/cluster/LocalRun.ts"
import { RunCalls } from "#layers/engine/cluster/RunCalls.ts"
import { RunMessages } from "#layers/engine/cluster/RunMessages.ts"
import { RunsInFlight } from "#layers/engine/cluster/RunsInFlight.ts"
import { allFinished, insertRun, makeWorkflow, startEngine } from "#test/layers/engine/cluster/engine.ts"
import { eachDatabase } from "#test/support/database.ts"
import { MovableClock } from "#test/support/MovableClock.ts"
import { testSettings } from "#test/support/settings.ts"
import { patience } from "#test/support/suite/patience.ts"

/** Pause of the cluster between its checks for idle entities. */
const betweenChecks = Duration.toMillis("10 seconds")

const Messages = RunMessages.pipe(
  Layer.provide(RunCalls.layer),
  Layer.provideMerge(RunsInFlight.layer),
  Layer.provide(Layer.succeed(EngineConfig, testSettings.engine))
)

/** What this process claims of the shard of a stored run, when it carries out that workflow. */
const receiveFor = Effect.fnUntraced(function* (workflow: string, requestId: number) {
  const sql = yield* SqlClient.SqlClient
  const storage = yield* MessageStorage.MessageStorage
  const runs = yield* RunsInFlight
  runs.versions.set(`Workflow/${workflow}`, { current: 1, continues: [1] })
  const [row] = yield* sql<{ readonly shard: string }>`
    SELECT shard FROM workflow_messages WHERE request_id = ${requestId}`
  const [group, id] = row!.shard.split(":") as [string, string]
  return storage.unprocessedMessages([ShardId.make(group, Number(id))])
})

eachDatabase("a message that an entity leaves", (it) => {
  it.effect("is claimed again: a run that wakes at the moment at which its idle entity ends goes on", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { advance } = yield* MovableClock
      const clock = yield* Clock.Clock
      const isTimeToCheck = yield* Deferred.make<void>()
      let checks = 0
      const sleep = (duration: Duration.Duration) => {
        if (Duration.toMillis(duration) !== betweenChecks) return clock.sleep(duration)
        return checks++ === 0 ? Deferred.await(isTimeToCheck) : Effect.never
      }
      let begun = 0
      let interrupted = 0
      const workflow = makeWorkflow("Left")
      const engine = yield* startEngine(workflow, () =>
        Effect.gen(function* () {
          yield* DurableClock.sleep({ name: "nap", duration: "1 second", inMemoryThreshold: 0 })
          yield* Activity.make({
            name: "work",
            execute: Effect.suspend(() => {
              begun += 1
              return begun > 1 ? Effect.void : Effect.onInterrupt(Effect.never, () => Effect.sync(() => interrupted++))
            })
          })
        })
      ).pipe(Effect.provideService(Clock.Clock, { ...clock, sleep }))
      yield* engine.launch("a")
      yield* sql`
        SELECT 1 FROM workflow_messages WHERE entity_type = 'Workflow/Left' AND NOT is_claimed
        AND wake_at > created_at`.pipe(
        Effect.filterOrFail((rows) => rows.length === 1),
        Effect.retry(Schedule.spaced("5 millis")),
        Effect.timeout(patience)
      )
      const { add } = engine.runs
      Object.assign(engine.runs, {
        // The run is claimed and not delivered yet: its entity is idle, and the check decides to end it.
        add: (claim: Parameters<typeof add>[0]) => {
          add(claim)
          advance(30_000)
          Deferred.doneUnsafe(isTimeToCheck, Effect.void)
        }
      })
      yield* allFinished(workflow)
      yield* engine.stop
      assert.deepStrictEqual({ begun, interrupted }, { begun: 2, interrupted: 1 })
      const rows = yield* sql`SELECT tries FROM workflow_messages WHERE entity_type = 'Workflow/Left'`
      assert.deepStrictEqual(rows, [{ tries: 1 }], "it is no try of the run")
    }).pipe(Effect.provide(MovableClock.layer))
  )

  it.effect("is claimed again when it has not begun within a minute", () =>
    Effect.gen(function* () {
      const { advance } = yield* MovableClock
      yield* insertRun({ id: 31, workflow: "Unbegun", execution: "unbegun", key: "a" })
      const received = yield* Effect.gen(function* () {
        const receive = Effect.map(yield* receiveFor("Unbegun", 31), ({ length }) => length)
        const first = yield* receive
        advance(50_000)
        const early = yield* receive
        advance(20_000)
        return [first, early, yield* receive, yield* receive]
      }).pipe(Effect.provide(Messages))
      assert.deepStrictEqual(received, [1, 0, 1, 0])
    }).pipe(Effect.provide(MovableClock.layer))
  )

  it.effect("is no try of its run when its shard was lost, and is this process's again", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* insertRun({ id: 33, workflow: "Regained", execution: "regained", key: "a", tries: 0 })
      const received = yield* Effect.gen(function* () {
        const storage = yield* MessageStorage.MessageStorage
        const receive = yield* receiveFor("Regained", 33)
        const [row] = yield* sql<{ readonly shard: string }>`
          SELECT shard FROM workflow_messages WHERE request_id = 33`
        const [group, id] = row!.shard.split(":") as [string, string]
        return yield* Effect.forEach(Array.from({ length: maxTries + 2 }), () =>
          Effect.tap(
            Effect.map(receive, ({ length }) => length),
            storage.resetShards([ShardId.make(group, Number(id))])
          )
        )
      }).pipe(Effect.provide(Messages))
      assert.deepStrictEqual([...new Set(received)], [1])
      const rows = yield* sql`SELECT tries FROM workflow_messages WHERE request_id = 33`
      assert.deepStrictEqual(rows, [{ tries: 1 }])
    })
  )

  it.effect("is not taken from a process that has claimed it since", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* insertRun({ id: 32, workflow: "Lost", execution: "lost", key: "a" })
      yield* Effect.gen(function* () {
        const storage = yield* MessageStorage.MessageStorage
        const received = yield* yield* receiveFor("Lost", 32)
        assert.strictEqual(received.length, 1)
        yield* sql`UPDATE workflow_messages SET generation = generation + 1, tries = 5 WHERE request_id = 32`
        yield* storage.resetRequests(received.map(({ envelope }) => envelope.requestId))
      }).pipe(Effect.provide(Messages))
      const rows = yield* sql`SELECT is_claimed, tries FROM workflow_messages WHERE request_id = 32`
      assert.deepStrictEqual(rows, [{ is_claimed: true, tries: 5 }])
    })
  )
})
