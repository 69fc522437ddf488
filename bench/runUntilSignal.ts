/** Runs a benchmark that needs a PostgreSQL server; without one it says so and is skipped. */
import { Console, Effect, type Scope } from "effect"
import type { NoServer } from "#bench/http/benchDatabase.ts"

/** Ctrl-C ends the run in order: what the program started last ends first. */
export const runUntilSignal = async <E>(program: Effect.Effect<void, E | NoServer, Scope.Scope>): Promise<void> => {
  const stop = new AbortController()
  const abort = () => stop.abort()
  process.once("SIGINT", abort).once("SIGTERM", abort)
  try {
    await Effect.runPromise(
      program.pipe(
        Effect.scoped,
        Effect.catchTag("NoServer", (skipped) => Console.log(`Skipped: ${(skipped as NoServer).message}`))
      ) as Effect.Effect<void, E>,
      { signal: stop.signal }
    )
  } finally {
    process.off("SIGINT", abort).off("SIGTERM", abort)
  }
}
