/** A database that fails for a moment says nothing about a run: the run is replayed, and its body never hears of it. */
import { assert } from "@effect/vitest"
import { Context, Effect, Exit, Layer, Schedule, Schema, Scope } from "effect"
import { ClusterSchema } from "effect/cluster"
import { SqlClient } from "effect/sql"
import { ConnectionError, SqlError } from "effect/sql/SqlError"
import { Activity, Workflow, WorkflowEngine } from "effect/workflow"
import { WorkflowRuntime } from "#layers/engine/WorkflowRuntime.ts"
import { eachDatabase } from "#test/support/database.ts"
import { TestSettings } from "#test/support/settings.ts"

const lost = new SqlError({ reason: new ConnectionError({ cause: new Error("gone"), message: "connection lost" }) })

/** Dies of the database as often as it is told, as a store does that turns its failures into defects. */
const failsTwice = () => {
  let left = 2
  return Effect.suspend(() => (left-- > 0 ? Effect.die(lost) : Effect.void))
}

/** Runs a body until its run has finished; answers how the body ended that finished it, and how often it was run. */
const runToEnd = Effect.fnUntraced(function* (name: string, body: Effect.Effect<void, never, any>) {
  const sql = yield* SqlClient.SqlClient
  const workflow = Workflow.make(name, { payload: { key: Schema.String }, idempotencyKey: ({ key }) => key })
  const ends: Array<boolean> = []
  const layer = workflow
    .toLayer(() => Effect.onExit(body, (exit) => Effect.sync(() => ends.push(Exit.isSuccess(exit)))))
    .pipe(Layer.provideMerge(WorkflowRuntime), Layer.provide(TestSettings))
  const scope = yield* Scope.make()
  const context = yield* Layer.buildWithScope(Layer.fresh(layer), scope)
  const engine = Context.get(context, WorkflowEngine.WorkflowEngine)
  yield* Effect.provideService(workflow.execute({ key: "a" }, { discard: true }), WorkflowEngine.WorkflowEngine, engine)
  yield* sql`SELECT 1 FROM workflow_executions WHERE workflow = ${name} AND finished_at IS NULL`.pipe(
    Effect.filterOrFail((rows) => rows.length === 0),
    Effect.retry(Schedule.spaced("20 millis")),
    Effect.timeout("20 seconds")
  )
  yield* Scope.close(scope, Exit.void)
  return ends
})

eachDatabase("a run whose database fails for a moment", (it) => {
  it.effect("in a step repeats the step", () =>
    Effect.gen(function* () {
      const ends = yield* runToEnd("FaultInStep", Activity.make({ name: "step", execute: failsTwice() }))
      assert.isTrue(ends.at(-1))
    })
  )

  it.effect("in a transactional step repeats the step", () =>
    Effect.gen(function* () {
      const step = Activity.make({ name: "step", execute: failsTwice() }).annotate(ClusterSchema.WithTransaction, true)
      const ends = yield* runToEnd("FaultInTransaction", step)
      assert.isTrue(ends.at(-1))
    })
  )

  it.effect("between steps is replayed", () =>
    Effect.gen(function* () {
      const ends = yield* runToEnd("FaultBetween", failsTwice())
      assert.isTrue(ends.at(-1))
    })
  )
})
