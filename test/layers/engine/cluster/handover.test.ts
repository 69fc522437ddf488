/**
 * The upgrade from the engine of before: its runs in flight go on behind their steps, and what had ended is not begun
 * again.
 */
import { assert } from "@effect/vitest"
import { DateTime, Effect, Ref, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Activity } from "effect/workflow"
import { eachDatabase } from "#test/support/database.ts"
import { allFinished, makeWorkflow, migration, startEngine } from "#test/layers/engine/cluster/engine.ts"

const run = (name: string) =>
  Effect.flatMap(
    migration<{ readonly default: Effect.Effect<unknown, unknown, SqlClient.SqlClient> }>(name),
    (file) => file.default
  )

eachDatabase("runs of the engine of before", (it) => {
  it.effect("go on behind their stored steps after the migration, and those that ended stay ended", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const workflow = makeWorkflow("Before")
      yield* sql`DROP TABLE workflow_messages`
      yield* sql`DROP TABLE workflow_steps`
      yield* run("0018_workflows")
      const [running, ended] = [
        yield* workflow.executionId({ key: "running" }),
        yield* workflow.executionId({ key: "ended" })
      ]
      const at = yield* DateTime.nowAsDate
      yield* sql`
        INSERT INTO workflow_executions (execution_id, workflow, payload, owner, wake_at, created_at, finished_at)
        VALUES (${running}, 'Before', '{"key":"running"}', 'a runner that is gone', ${at}, ${at}, ${null}),
          (${ended}, 'Before', '{"key":"ended"}', ${null}, ${at}, ${at}, ${at})`
      yield* sql`INSERT INTO workflow_steps (execution_id, step, result) VALUES (${running}, 'first/1', '{"value":7}')`
      yield* run("0120_run_messages")
      yield* run("0156_versions_of_runs")

      const seen = yield* Ref.make<ReadonlyArray<readonly [string, number]>>([])
      const engine = yield* startEngine(workflow, (key) =>
        Effect.gen(function* () {
          const first = yield* Activity.make({ name: "first", success: Schema.Int, execute: Effect.succeed(1) })
          yield* Ref.update(seen, (all) => [...all, [key, first] as const])
        })
      )
      yield* allFinished(workflow)
      yield* engine.launch("ended")
      yield* engine.launch("running")
      yield* engine.launch("new")
      yield* allFinished(workflow)
      yield* engine.stop
      assert.deepStrictEqual(yield* Ref.get(seen), [
        ["running", 7],
        ["new", 1]
      ])
    })
  )
})
