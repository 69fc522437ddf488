/** Versions of workflows: a run is carried out by code that understands it, or waits. */
import { assert } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { WorkflowVersion } from "#domain/operation/WorkflowVersion.ts"
import { makeMessageRows } from "#layers/sql/run/makeMessageRows.ts"
import { versionKey } from "#layers/sql/run/MessageRows.ts"
import { allFinished, insertRun, makeWorkflow, startEngine } from "#test/layers/engine/cluster/engine.ts"
import { eachDatabase } from "#test/support/database.ts"

const ofVersion = (name: string, current: number, continues: ReadonlyArray<number>) =>
  makeWorkflow(name).annotate(WorkflowVersion, { current, continues })

const runsOf = (name: string) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql`
      SELECT version, generation::int AS generation, finished_at IS NOT NULL AS finished FROM workflow_messages
      WHERE entity_type = ${`Workflow/${name}`} ORDER BY created_at, request_id`
  )

eachDatabase("a run", (it) => {
  it.effect("of a version that a process does not carry out waits for one that does, and nothing of it is failed", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const before = ofVersion("Upgraded", 1, [1])
      yield* insertRun({ id: 41, workflow: "Upgraded", execution: "newer", key: "newer" })
      yield* sql`UPDATE workflow_messages SET version = 2, wake_at = '2020-01-01T00:00:00Z' WHERE entity_id = 'newer'`
      const done: Array<string> = []
      const body = (key: string) => Effect.sync(() => void done.push(key))
      const old = yield* startEngine(before, body)
      yield* old.launch("older")
      yield* sql`SELECT 1 FROM workflow_messages WHERE finished_at IS NOT NULL`.pipe(
        Effect.repeat({ until: (rows) => rows.length === 1 })
      )
      yield* old.stop
      assert.deepStrictEqual(done, ["older"])
      assert.deepStrictEqual(yield* runsOf("Upgraded"), [
        { version: 2, generation: 1, finished: false },
        { version: 1, generation: 1, finished: true }
      ])
      const { leftToOthers } = makeMessageRows(sql)
      const at = yield* DateTime.now
      const left = (version: number) =>
        leftToOthers({ entityTypes: ["Workflow/Upgraded"], supported: [versionKey("Workflow/Upgraded", version)], at })
      assert.deepStrictEqual([yield* left(1), yield* left(2)], [1, 0])

      const after = ofVersion("Upgraded", 2, [1, 2])
      const young = yield* startEngine(after, body)
      yield* allFinished(after)
      yield* young.stop
      assert.deepStrictEqual(done, ["older", "newer"])
    })
  )

  it.effect("begins under the current version, and one of before goes on where the new code continues it", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* insertRun({ id: 42, workflow: "Continued", execution: "first", key: "first" })
      const workflow = ofVersion("Continued", 3, [1, 3])
      const engine = yield* startEngine(workflow, () => Effect.void)
      yield* engine.launch("third")
      yield* allFinished(workflow)
      yield* engine.stop
      const versions = yield* sql`
        SELECT version FROM workflow_messages WHERE entity_type = 'Workflow/Continued' ORDER BY version`
      assert.deepStrictEqual(versions, [{ version: 1 }, { version: 3 }])
    })
  )
})
