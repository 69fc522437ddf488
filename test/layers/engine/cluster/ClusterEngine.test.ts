/** The engine of runs: what it stores and repeats, timers, the bound on runs in flight, and who has lost a run. */
import { assert } from "@effect/vitest"
import { DateTime, Deferred, Effect, Ref, Schedule, Schema } from "effect"
import { ClusterSchema } from "effect/cluster"
import { SqlClient } from "effect/sql"
import { Activity, DurableClock } from "effect/workflow"
import { Repeatable } from "#domain/operation/Repeatable.ts"
import { roundToGoOnAt, Superseding } from "#domain/operation/rounds.ts"
import { makeMessageRows } from "#layers/sql/run/makeMessageRows.ts"
import { makeStepResults } from "#layers/sql/run/StepResults.ts"
import { eachDatabase } from "#test/support/database.ts"
import { allFinished, insertRun, makeWorkflow, startEngine, unfinished } from "#test/layers/engine/cluster/engine.ts"
import { testSettings } from "#test/support/settings.ts"
import { patience } from "#test/support/suite/patience.ts"

const counted = (name: string, times: Map<string, number>) =>
  Activity.make({
    name,
    success: Schema.Int,
    execute: Effect.sync(() => {
      const count = (times.get(name) ?? 0) + 1
      times.set(name, count)
      return count
    })
  })

eachDatabase("the engine of runs", (it) => {
  it.effect("does each step once, however often the run is launched", () =>
    Effect.gen(function* () {
      const times = new Map<string, number>()
      const workflow = makeWorkflow("Once")
      const engine = yield* startEngine(workflow, () =>
        Effect.gen(function* () {
          yield* counted("first", times)
          yield* counted("second", times)
        })
      )
      yield* Effect.all(
        [1, 2, 3].map(() => engine.launch("a")),
        { concurrency: 3 }
      )
      yield* allFinished(workflow)
      yield* engine.launch("a")
      yield* engine.stop
      assert.deepStrictEqual(
        [...times],
        [
          ["first", 1],
          ["second", 1]
        ]
      )
    })
  )

  it.effect("keeps the latest round of a loop alone, goes on behind it, and takes no round for a try in vain", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const times = new Map<string, number>()
      const rounds = 25
      const workflow = makeWorkflow("Round")
      const engine = yield* startEngine(workflow, () =>
        Effect.gen(function* () {
          yield* counted("begin", times)
          for (let number = yield* roundToGoOnAt("watch"); number <= rounds; number++) {
            yield* counted(`watch/${number}`, times).annotate(Superseding, ["watch", "wait"])
            yield* DurableClock.sleep({ name: `wait/${number}`, duration: 1, inMemoryThreshold: 0 })
          }
        })
      )
      yield* engine.launch("a")
      yield* allFinished(workflow)
      yield* engine.stop
      assert.strictEqual(times.size, rounds + 1)
      assert.isTrue([...times.values()].every((count) => count === 1))
      const steps = yield* sql<{ readonly step: string }>`
        SELECT s.step FROM workflow_steps s JOIN workflow_messages m ON m.entity_id = s.execution_id
        WHERE m.entity_type = 'Workflow/Round' ORDER BY s.step`
      assert.deepStrictEqual(
        steps.map(({ step }) => step),
        ["begin/1", `DurableClock/wait/${rounds}/timer`, `watch/${rounds}/1`].sort()
      )
    })
  )

  it.effect("replays a stopped run over its stored steps, in another engine", () =>
    Effect.gen(function* () {
      const times = new Map<string, number>()
      const workflow = makeWorkflow("Stopped")
      const entered = yield* Deferred.make<void>()
      const first = yield* startEngine(workflow, () =>
        Effect.gen(function* () {
          yield* counted("first", times)
          yield* Activity.make({
            name: "second",
            execute: Effect.andThen(Deferred.succeed(entered, undefined), Effect.never)
          })
        })
      )
      yield* first.launch("a")
      yield* Deferred.await(entered)
      yield* first.stop
      assert.strictEqual((yield* unfinished(workflow)).length, 1)
      const seen = yield* Ref.make(0)
      const second = yield* startEngine(workflow, () =>
        Effect.gen(function* () {
          yield* Ref.set(seen, yield* counted("first", times))
          yield* counted("second", times)
        })
      )
      yield* allFinished(workflow)
      yield* second.stop
      assert.strictEqual(yield* Ref.get(seen), 1)
      assert.deepStrictEqual([...times.values()], [1, 1])
    })
  )

  it.effect("stores no result that may be repeated, and does that step again when the run wakes", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const times = new Map<string, number>()
      const workflow = makeWorkflow("Repeats")
      const isOdd = (result: unknown) => Number(result) % 2 === 1
      const engine = yield* startEngine(workflow, () =>
        Effect.gen(function* () {
          yield* counted("kept", times)
          yield* counted("odd", times).annotate(Repeatable, isOdd)
          yield* DurableClock.sleep({ name: "first", duration: "1 second", inMemoryThreshold: 0 })
          yield* DurableClock.sleep({ name: "second", duration: "1 second", inMemoryThreshold: 0 })
        })
      )
      yield* engine.launch("a")
      yield* allFinished(workflow)
      yield* engine.stop
      // The second result is even, so it is stored, and the third wake finds it.
      assert.deepStrictEqual(Object.fromEntries(times), { kept: 1, odd: 2 })
      const steps = yield* sql<{ readonly step: string; readonly result: string }>`
        SELECT s.step, s.result FROM workflow_steps s JOIN workflow_messages m ON m.entity_id = s.execution_id
        WHERE m.entity_type = 'Workflow/Repeats' AND s.step NOT LIKE 'DurableClock%' ORDER BY s.step`
      assert.deepStrictEqual(
        steps.map(({ result, step }) => [step, JSON.parse(result)]),
        [
          ["kept/1", { value: 1 }],
          ["odd/1", { value: 2 }]
        ]
      )
    })
  )

  it.effect("stops although a step does not let itself be interrupted, and the next engine has the run", () =>
    Effect.gen(function* () {
      const times = new Map<string, number>()
      const workflow = makeWorkflow("Stubborn")
      const [entered, release, left] = [
        yield* Deferred.make<void>(),
        yield* Deferred.make<void>(),
        yield* Deferred.make<void>()
      ]
      const first = yield* startEngine(workflow, () =>
        Activity.make({
          name: "only",
          success: Schema.Int,
          execute: Deferred.succeed(entered, undefined).pipe(
            Effect.andThen(Deferred.await(release)),
            Effect.as(-1),
            Effect.uninterruptible
          )
        }).pipe(Effect.ensuring(Deferred.succeed(left, undefined)))
      )
      yield* first.launch("a")
      yield* Deferred.await(entered)
      yield* first.stop
      const seen = yield* Ref.make(0)
      const second = yield* startEngine(workflow, () =>
        Effect.gen(function* () {
          yield* Ref.set(seen, yield* counted("only", times))
        })
      )
      yield* allFinished(workflow)
      yield* Deferred.succeed(release, undefined)
      yield* Deferred.await(left)
      yield* second.stop
      assert.strictEqual(yield* Ref.get(seen), 1)
      const sql = yield* SqlClient.SqlClient
      const steps = yield* sql<{ readonly result: string }>`
        SELECT s.result FROM workflow_steps s JOIN workflow_messages m ON m.entity_id = s.execution_id
        WHERE m.entity_type = ${`Workflow/${workflow._tag}`}`
      assert.deepStrictEqual(steps, [{ result: '{"value":1}' }], "what was left behind stores nothing")
    })
  )

  it.effect("takes the SQL of a transactional step back when the step fails, and stores that it failed", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const workflow = makeWorkflow("Failing")
      const write = sql`INSERT INTO workflow_steps (execution_id, step, result) VALUES ('by the step', 'x', 'x')`
      const engine = yield* startEngine(workflow, () =>
        Activity.make({
          name: "write",
          execute: Effect.andThen(Effect.orDie(write), Effect.die(new Error("not today")))
        })
          .annotate(ClusterSchema.WithTransaction, true)
          .pipe(Effect.catchDefect(() => Effect.void))
      )
      yield* engine.launch("a")
      yield* allFinished(workflow)
      yield* engine.stop
      assert.deepStrictEqual(yield* sql`SELECT 1 FROM workflow_steps WHERE execution_id = 'by the step'`, [])
      const steps = yield* sql<{ readonly result: string }>`
        SELECT s.result FROM workflow_steps s JOIN workflow_messages m ON m.entity_id = s.execution_id
        WHERE m.entity_type = ${`Workflow/${workflow._tag}`}`
      assert.strictEqual(steps.length, 1)
      assert.include(steps[0]!.result, "not today")
    })
  )

  it.effect("gives up a run that sleeps long, and wakes it at its time", () =>
    Effect.gen(function* () {
      const times = new Map<string, number>()
      const sql = yield* SqlClient.SqlClient
      const workflow = makeWorkflow("Sleeping")
      const engine = yield* startEngine(
        workflow,
        () =>
          Effect.gen(function* () {
            yield* counted("before", times)
            yield* DurableClock.sleep({ name: "nap", duration: "300 millis", inMemoryThreshold: 0 })
            yield* counted("after", times)
          }),
        1
      )
      yield* engine.launch("a")
      yield* sql`SELECT 1 FROM workflow_messages
        WHERE entity_type = ${`Workflow/${workflow._tag}`} AND NOT is_claimed AND wake_at > created_at
        AND wake_at < 'infinity'`.pipe(
        Effect.filterOrFail((rows) => rows.length === 1),
        Effect.retry(Schedule.spaced("10 millis")),
        Effect.timeout(patience)
      )
      yield* allFinished(workflow)
      yield* engine.stop
      assert.deepStrictEqual([...times.values()], [1, 1])
    })
  )

  it.effect("works on as many runs at once as it may, and on the others afterwards", () =>
    Effect.gen(function* () {
      const workflow = makeWorkflow("Bounded")
      let running = 0
      let most = 0
      const engine = yield* startEngine(
        workflow,
        () =>
          Activity.make({
            name: "work",
            execute: Effect.gen(function* () {
              running += 1
              most = Math.max(most, running)
              yield* Effect.yieldNow
              yield* Effect.sleep("50 millis")
              running -= 1
            })
          }),
        4
      )
      yield* Effect.forEach(Array.from({ length: 30 }), (_, index) => engine.launch(`${index}`), { concurrency: 30 })
      yield* allFinished(workflow)
      yield* engine.stop
      assert.strictEqual(most, 4)
    })
  )

  it.effect("replays a run that another process had, and stores none of that one's steps afterwards", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const results = makeStepResults(sql)
      yield* insertRun({ id: 1, workflow: "Moved", execution: "orphan", key: "a", isClaimed: true })
      const step = { requestId: "1", executionId: "orphan", generation: 1n, step: "first/1", result: '{"value":7}' }
      assert.strictEqual((yield* results.record([step])).size, 1)
      const seen = yield* Ref.make(0)
      const workflow = makeWorkflow("Moved")
      const engine = yield* startEngine(workflow, () =>
        Effect.gen(function* () {
          yield* Ref.set(seen, yield* counted("first", new Map()))
        })
      )
      yield* allFinished(workflow)
      yield* engine.stop
      assert.strictEqual(yield* Ref.get(seen), 7, "the step that was stored is not done again")
      assert.strictEqual((yield* results.record([{ ...step, step: "late/1" }])).size, 0)
      const within = results.recordWithin({ ...step, step: "late/2" })
      assert.strictEqual((yield* sql.withTransaction(within)).size, 0)
    })
  )

  it.effect("cleans what finished long ago, in bounded pieces, and nothing else", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const rows = makeMessageRows(sql)
      const workflow = makeWorkflow("Cleaned")
      const engine = yield* startEngine(workflow, () => Effect.asVoid(counted("only", new Map())))
      yield* Effect.forEach(["a", "b", "c"], engine.launch)
      yield* allFinished(workflow)
      yield* engine.stop
      yield* sql`UPDATE workflow_messages SET finished_at = '2020-01-01T00:00:00Z'
        WHERE entity_type = ${`Workflow/${workflow._tag}`}`
      const before = DateTime.makeUnsafe("2020-06-01T00:00:00Z")
      assert.strictEqual(yield* rows.clean(before, 2), 2)
      assert.strictEqual(yield* rows.clean(before, 2), 1)
      assert.strictEqual(yield* rows.clean(before, 2), 0)
      assert.deepStrictEqual(
        yield* sql`SELECT 1 FROM workflow_steps s WHERE NOT EXISTS (
          SELECT FROM workflow_messages m WHERE m.entity_id = s.execution_id)`,
        []
      )
    })
  )

  it.effect("deletes finished runs after their retention by itself, and keeps unfinished and young ones", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const now = yield* DateTime.nowAsDate
      const old = new Date(now.getTime() - testSettings.engine.runRetentionMs - 1_000)
      const young = new Date(now.getTime() - testSettings.engine.runRetentionMs + 600_000)
      yield* insertRun({ id: 11, workflow: "Forgotten", execution: "old", key: "old", finishedAt: old })
      yield* insertRun({ id: 12, workflow: "Forgotten", execution: "young", key: "young", finishedAt: young })
      yield* insertRun({ id: 13, workflow: "Forgotten", execution: "unfinished", key: "unfinished" })
      yield* sql`
        INSERT INTO workflow_steps (execution_id, step, result)
        SELECT id, 'only/1', '{}' FROM unnest(${["old", "young", "unfinished"]}::text[]) AS n (id)`
      const engine = yield* startEngine(makeWorkflow("Broom"), () => Effect.void)
      const left = sql<{ readonly execution_id: string }>`
        SELECT execution_id FROM workflow_steps WHERE step = 'only/1'
        AND execution_id = ANY(${["old", "young", "unfinished"]}::text[])
        ORDER BY execution_id`
      yield* left.pipe(
        Effect.filterOrFail((rows) => rows.length < 3),
        Effect.retry(Schedule.spaced("20 millis")),
        Effect.timeout(patience)
      )
      yield* engine.stop
      assert.deepStrictEqual(
        (yield* left).map((row) => row.execution_id),
        ["unfinished", "young"]
      )
    })
  )
})
