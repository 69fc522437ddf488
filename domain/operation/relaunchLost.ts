/**
 * Launches operations again whose launch was lost in a crash, whatever their kind. Launching is idempotent, so one that
 * is only slow suffers nothing.
 */
import { DateTime, Duration, Effect } from "effect"
import { type Launch, OperationLauncher } from "#domain/operation/OperationLauncher.ts"
import { OperationStore } from "#domain/operation/OperationStore.ts"

/** An operation that is still accepted after this long was not launched, or its launch died. */
const lostAfter = Duration.seconds(5)

/** Operations that were accepted together share the statements of their launches. */
const launchConcurrency = 256

export const launchAll = (launcher: OperationLauncher["Service"], launches: ReadonlyArray<Launch>) =>
  Effect.forEach(launches, launcher.launch, { concurrency: launchConcurrency, discard: true })

/** Answers how many were launched, at most as many as asked for. */
export const makeRelaunchLost = Effect.gen(function* () {
  const operations = yield* OperationStore
  const launcher = yield* OperationLauncher

  return Effect.fnUntraced(function* (limit: number) {
    const lost = yield* operations.accepted(DateTime.subtractDuration(yield* DateTime.now, lostAfter), limit)
    yield* launchAll(launcher, lost)
    return lost.length
  })
})
