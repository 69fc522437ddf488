/**
 * Runs that cannot go on: they are suspended with their cause, never failed, and go on when an operator resumes them.
 */
import { assert } from "@effect/vitest"
import { Effect, Option, Schedule, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Activity } from "effect/workflow"
import { maxTries } from "#layers/engine/cluster/LocalRun.ts"
import { SuspendedRuns } from "#domain/operation/SuspendedRuns.ts"
import { eachDatabase } from "#test/support/database.ts"
import { allFinished, insertRun, makeWorkflow, startEngine } from "#test/layers/engine/cluster/engine.ts"
import { patience } from "#test/support/suite/patience.ts"

const suspension = (executionId: string) =>
  Effect.flatMap(SuspendedRuns, ({ find }) => find(executionId)).pipe(
    Effect.filterOrFail(Option.isSome),
    Effect.retry(Schedule.spaced("20 millis")),
    Effect.timeout(patience),
    Effect.map(({ value }) => value)
  )

const step = Activity.make({ name: "step", success: Schema.Int, execute: Effect.succeed(1) })

eachDatabase("a run that cannot go on", (it) => {
  it.effect("is suspended with its cause when it fails by a defect too often, and goes on when it is resumed", () =>
    Effect.gen(function* () {
      const { list, resume } = yield* SuspendedRuns
      let isBroken = true
      const workflow = makeWorkflow("Broken")
      const engine = yield* startEngine(workflow, () =>
        Effect.andThen(
          step,
          Effect.suspend(() => (isBroken ? Effect.die(new Error("a fault of ours")) : Effect.void))
        )
      )
      yield* insertRun({ id: 21, workflow: "Broken", execution: "broken", key: "a", tries: maxTries - 1 })
      // The step is stored before the defect, so the run begins to count anew; then nothing is stored any more.
      const sql = yield* SqlClient.SqlClient
      const again = sql`
        UPDATE workflow_messages SET tries = ${maxTries - 1}, wake_at = '2020-01-01T00:00:00Z'
        WHERE entity_id = 'broken' AND NOT is_claimed AND steps_seen = 1 AND suspended_at IS NULL RETURNING 1`
      const early = sql`
        UPDATE workflow_messages SET wake_at = '2020-01-01T00:00:00Z'
        WHERE entity_id = 'broken' AND NOT is_claimed AND steps_seen = 0 AND reply_id IS NOT NULL RETURNING 1`
      for (const urged of [early, again])
        yield* urged.pipe(
          Effect.filterOrFail((rows) => rows.length === 1),
          Effect.retry(Schedule.spaced("20 millis")),
          Effect.timeout(patience)
        )
      const found = yield* suspension("broken")
      assert.include(found.cause, "a fault of ours")
      assert.deepInclude(found, { workflow: "Broken", steps: 1 })
      assert.include(
        (yield* list(10)).map(({ executionId }) => executionId),
        "broken"
      )
      isBroken = false
      assert.isTrue(yield* resume("broken"))
      yield* allFinished(workflow)
      assert.isFalse(yield* resume("broken"), "it is not suspended any more")
      yield* engine.stop
    })
  )

  it.effect("is suspended when it begins ten times without storing a step, because it kills its process", () =>
    Effect.gen(function* () {
      let begun = 0
      const workflow = makeWorkflow("Killer")
      const engine = yield* startEngine(workflow, () => Effect.sync(() => void (begun += 1)))
      yield* insertRun({
        id: 22,
        workflow: "Killer",
        execution: "killer",
        key: "a",
        tries: maxTries,
        isClaimed: false
      })
      const found = yield* suspension("killer")
      assert.include(found.cause, "without storing a step")
      assert.strictEqual(begun, 0)
      assert.isTrue(yield* (yield* SuspendedRuns).resume("killer"))
      yield* allFinished(workflow)
      assert.strictEqual(begun, 1)
      yield* engine.stop
    })
  )

  it.effect("is suspended when a stored result cannot be read by this version, and never failed", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* insertRun({ id: 23, workflow: "Older", execution: "older", key: "a" })
      yield* sql`INSERT INTO workflow_steps (execution_id, step, result)
        VALUES ('older', 'step/1', '{"value":{"of":"before"}}')`
      let defects = 0
      const workflow = makeWorkflow("Older")
      const engine = yield* startEngine(workflow, () =>
        Effect.asVoid(step).pipe(Effect.tapDefect(() => Effect.sync(() => (defects += 1))))
      )
      const found = yield* suspension("older")
      assert.include(found.cause, "The stored result of step step cannot be read")
      assert.strictEqual(defects, 0, "the body does not see it")
      yield* sql`UPDATE workflow_steps SET result = '{"value":3}' WHERE execution_id = 'older'`
      assert.isTrue(yield* (yield* SuspendedRuns).resume("older"))
      yield* allFinished(workflow)
      yield* engine.stop
    })
  )
})
