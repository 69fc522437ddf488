/** Simulates the seeds that it is given, one after the other, on a database of its own. Started by `simulate.ts`. */
import { Effect } from "effect"
import { openDatabase } from "#test/simulation/harness/Database.ts"
import { simulate } from "#test/simulation/Simulation.ts"
import { answerOf, type Request } from "#test/simulation/workerMessages.ts"

const work = Effect.gen(function* () {
  const database = yield* openDatabase
  yield* Effect.callback<void>((resume) => {
    process.on("message", ({ seed }: Request) => {
      void simulate(database, seed).then((end) => process.send?.(answerOf(end)))
    })
    process.on("disconnect", () => resume(Effect.void))
  })
})

await Effect.runPromise(Effect.scoped(work))
