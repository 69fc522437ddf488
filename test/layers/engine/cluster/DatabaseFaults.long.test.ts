/** Faults of the database while runs go on: no run fails by one, and none is forgotten. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { ClusterSchema } from "effect/cluster"
import { ConnectionError, SqlError, UnknownError } from "effect/sql/SqlError"
import { Activity } from "effect/workflow"
import { eachDatabase } from "#test/support/database.ts"
import { allFinished, insertRun, makeWorkflow, startEngine } from "#test/layers/engine/cluster/engine.ts"

const lost = new SqlError({ reason: new ConnectionError({ cause: new Error("reset"), message: "reset" }) })
/** Error as the client classes it: a server without a connection to spare has no reason of its own. */
const full = new SqlError({ reason: new UnknownError({ cause: Object.assign(new Error(), { code: "53300" }) }) })

/** An activity that meets a fault the first two times. */
const faulty = (name: string, tries: { count: number }, fault: SqlError) =>
  Activity.make({
    name,
    execute: Effect.suspend(() => (++tries.count <= 2 ? Effect.die(fault) : Effect.void))
  })

eachDatabase("runs and faults of the database", (it) => {
  it.effect.each([
    ["a lost connection", lost],
    ["no connection to spare", full]
  ] as const)("%s makes a step happen again, and no caller sees it", ([name, fault]) =>
    Effect.gen(function* () {
      const plain = { count: 0 }
      const together = { count: 0 }
      let defects = 0
      const workflow = makeWorkflow(`Faulty ${name}`)
      const engine = yield* startEngine(workflow, () =>
        Effect.gen(function* () {
          yield* faulty("plain", plain, fault)
          yield* faulty("together", together, fault).annotate(ClusterSchema.WithTransaction, true)
        }).pipe(Effect.tapDefect(() => Effect.sync(() => (defects += 1))))
      )
      yield* engine.launch("a")
      yield* allFinished(workflow)
      yield* engine.stop
      assert.deepStrictEqual([plain.count, together.count, defects], [3, 3, 0])
    })
  )

  it.effect("a fault between the steps of a run makes it go through them again", () =>
    Effect.gen(function* () {
      const tries = { count: 0 }
      let first = 0
      const workflow = makeWorkflow("Faulty between")
      const engine = yield* startEngine(workflow, () =>
        Effect.gen(function* () {
          yield* Activity.make({ name: "first", execute: Effect.sync(() => (first += 1)).pipe(Effect.asVoid) })
          if (++tries.count <= 2) yield* Effect.die(lost)
        })
      )
      yield* engine.launch("a")
      yield* allFinished(workflow)
      yield* engine.stop
      assert.deepStrictEqual([tries.count, first], [3, 1])
    })
  )

  it.effect("a run that a process has claimed without knowing is found and carried out", () =>
    Effect.gen(function* () {
      const workflow = makeWorkflow("Stray")
      const engine = yield* startEngine(workflow, () => Effect.void)
      yield* engine.launch("a")
      yield* allFinished(workflow)
      // As a claim leaves it whose answer was lost with the connection.
      yield* insertRun({ id: 1, workflow: "Stray", execution: "stray", key: "b", isClaimed: true })
      yield* allFinished(workflow)
      yield* engine.stop
    })
  )
})
