/**
 * A run in this process, from the moment that its body begins until it ends, sleeps or is claimed by another process.
 */
import { DateTime, Duration } from "effect"
import type { Reply } from "#layers/sql/run/MessageRows.ts"
import type { Fence } from "#layers/sql/run/RunFence.ts"

export interface LocalRun extends Fence {
  readonly payload: object
  /** How often the run has begun since it last stored a step. */
  readonly tries: number
  /** Stored results by step; what the body is replayed over. */
  steps: ReadonlyMap<string, string>
  /** It has stored a step, so its tries count anew. */
  hasStored: boolean
  /** A step could not be stored, so memory and database may differ. */
  mustReplay: boolean
  /** Milliseconds since the epoch at which the earliest durable timer ends; infinite without one. */
  wakeAt: number
  /** A defect that ended the body; it may pass. */
  defect: string | undefined
  /** Why the run cannot go on until an operator acts. */
  blocked: string | undefined
}

/** Times that a run may begin without storing a step before it is suspended. */
export const maxTries = 10

/** Pause between a fault of the database and the next try. */
const afterFault = Duration.millis(500)
const afterDefect = { first: Duration.seconds(1), max: Duration.minutes(5) }

/** What becomes of a run whose body was left before its end. */
export const pauseOf = (run: LocalRun, now: DateTime.Utc): Reply["end"] => {
  const { blocked, defect, hasStored, mustReplay, wakeAt } = run
  const tries = hasStored ? 1 : run.tries
  if (blocked !== undefined) return { _tag: "Suspended", cause: blocked }
  if (defect !== undefined) {
    if (tries >= maxTries) return { _tag: "Suspended", cause: defect }
    const pause = Duration.min(Duration.times(afterDefect.first, 2 ** tries), afterDefect.max)
    return { _tag: "Waiting", until: DateTime.addDuration(now, pause), isTransient: false }
  }
  if (mustReplay) return { _tag: "Waiting", until: DateTime.addDuration(now, afterFault), isTransient: true }
  return { _tag: "Waiting", until: wakeAt === Infinity ? null : DateTime.makeUnsafe(wakeAt), isTransient: false }
}
