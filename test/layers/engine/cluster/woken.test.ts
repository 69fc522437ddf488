/** A run that waits for a time that is far away, and is woken. */
import { assert } from "@effect/vitest"
import { DateTime, Duration, Effect, Ref, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { Activity, DurableClock } from "effect/workflow"
import { makeMessageRows } from "#layers/sql/run/makeMessageRows.ts"
import { versionKey } from "#layers/sql/run/MessageRows.ts"
import { wakeRun } from "#layers/sql/run/wakeRun.ts"
import { allFinished, makeWorkflow, startEngine } from "#test/layers/engine/cluster/engine.ts"
import { eachDatabase } from "#test/support/database.ts"
import { patience } from "#test/support/suite/patience.ts"

/** The run sleeps at its nth timer, for two days. */
const waitsWith = (executionId: string, timers: number) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql`
      SELECT 1 FROM workflow_messages WHERE entity_id = ${executionId} AND NOT is_claimed AND reply IS NOT NULL
        AND wake_at > ${DateTime.toDateUtc(DateTime.add(DateTime.nowUnsafe(), { days: 1 }))}
        AND (SELECT count(*)::int FROM workflow_steps WHERE execution_id = ${executionId}
          AND step LIKE '%/timer') = ${timers}`
  ).pipe(
    Effect.filterOrFail((rows) => rows.length === 1),
    Effect.retry(Schedule.spaced("20 millis")),
    Effect.timeout(patience)
  )

eachDatabase("a run that waits for a time", (it) => {
  it.effect("goes on when it is woken, once, and waits again where it waits next", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const workflow = makeWorkflow("Woken")
      const rounds = yield* Ref.make(0)
      const wait = (name: string) => DurableClock.sleep({ name, duration: Duration.days(2) })
      const engine = yield* startEngine(workflow, () =>
        Effect.gen(function* () {
          yield* wait("first")
          yield* Activity.make({ name: "between", execute: Ref.update(rounds, (count) => count + 1) })
          yield* wait("second")
        })
      )
      yield* engine.launch("woken")
      const executionId = yield* workflow.executionId({ key: "woken" })
      const wake = wakeRun(sql, executionId)
      yield* waitsWith(executionId, 1)
      yield* wake
      yield* waitsWith(executionId, 2)
      assert.strictEqual(yield* Ref.get(rounds), 1)
      yield* wake
      yield* allFinished(workflow)
      assert.strictEqual(yield* Ref.get(rounds), 1)
      yield* engine.stop
    })
  )

  it.effect("goes on when it is woken and sent a signal in one moment", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const workflow = makeWorkflow("WokenAndSignalled")
      const engine = yield* startEngine(workflow, () =>
        DurableClock.sleep({ name: "wait", duration: Duration.days(2) })
      )
      yield* engine.launch("woken")
      const executionId = yield* workflow.executionId({ key: "woken" })
      yield* waitsWith(executionId, 1)
      yield* wakeRun(sql, executionId)
      yield* engine.signal("woken")
      yield* allFinished(workflow)
      yield* engine.stop
    })
  )

  it.effect("goes on when whoever had claimed it died before its timers were ended", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const workflow = makeWorkflow("WokenAndLeft")
      const body = () => DurableClock.sleep({ name: "wait", duration: Duration.days(2) })
      const first = yield* startEngine(workflow, body)
      yield* first.launch("woken")
      const executionId = yield* workflow.executionId({ key: "woken" })
      yield* waitsWith(executionId, 1)
      yield* first.stop
      yield* wakeRun(sql, executionId)
      const [row] = yield* sql<{ readonly shard: string }>`
        SELECT shard FROM workflow_messages WHERE entity_id = ${executionId}`
      const claimed = yield* makeMessageRows(sql).claimRuns(
        {
          shards: [row!.shard],
          entityTypes: [],
          supported: [versionKey("Workflow/WokenAndLeft", 1)],
          at: yield* DateTime.now
        },
        10
      )
      assert.deepStrictEqual(
        claimed.map(({ entityId, isWoken }) => ({ entityId, isWoken })),
        [{ entityId: executionId, isWoken: true }]
      )
      const second = yield* startEngine(workflow, body)
      yield* allFinished(workflow)
      yield* second.stop
    })
  )

  it.effect("goes on when it is woken in the moment before it waits", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const workflow = makeWorkflow("WokenBefore")
      const engine = yield* startEngine(workflow, (key) =>
        Effect.gen(function* () {
          const executionId = yield* workflow.executionId({ key })
          yield* Activity.make({ name: "looked", execute: Effect.orDie(wakeRun(sql, executionId)) })
          yield* DurableClock.sleep({ name: "wait", duration: Duration.days(2) })
        })
      )
      yield* engine.launch("woken")
      yield* allFinished(workflow)
      yield* engine.stop
    })
  )
})
