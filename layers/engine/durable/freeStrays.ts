/**
 * Gives up what this process owns and does not know of: a claim or a launch was committed, and its answer was lost with
 * the connection. Whoever is free claims it then, as if it had never been taken.
 *
 * Must not run beside a claim of the same process. A launch may be under way, so an execution must be unknown at two
 * looks in a row.
 */
import { Clock, Effect } from "effect"
import type { LocalRun } from "#layers/engine/durable/LocalRun.ts"
import type { Runner } from "#layers/engine/durable/Runner.ts"
import type { ExecutionStore } from "#layers/sql/ExecutionStore.ts"

const betweenLooksMs = 2_000

interface Services {
  readonly store: ExecutionStore["Service"]
  readonly runner: Runner["Service"]
  readonly runs: ReadonlyMap<string, LocalRun>
}

/** Answers what to do at every poll; it looks at most every two seconds. */
export const makeFreeStrays = ({ runner, runs, store }: Services) => {
  let lastLook = 0
  let suspects: ReadonlySet<string> = new Set()

  return Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    if (now - lastLook < betweenLooksMs) return
    lastLook = now
    const owner = yield* runner.id
    const unknown = yield* store.ownedBeside(owner, [...runs.keys()])
    const strays = unknown.filter((executionId) => suspects.has(executionId) && !runs.has(executionId))
    suspects = new Set(unknown)
    if (strays.length === 0) return
    yield* Effect.logWarning(`${strays.length} runs were owned by this process without its knowledge; they go on now`)
    yield* store.release(owner, strays)
  })
}
