/**
 * Bounds how long somebody waits for a body that is interrupted.
 *
 * A shard moves and a process ends only once the bodies of their runs have ended. A step may be in what cannot be
 * interrupted, as a commit on a connection whose other end is gone. Such a body is left behind after a while: its run
 * may be claimed anew, and whatever it still writes names a generation that has passed.
 */
import { Duration, Effect, Fiber, Option } from "effect"

/** Long enough for statements that are under way, and shorter than what orchestrators give a process to end. */
const timeout = Duration.seconds(5)

export const abandonedIntents =
  (executionId: string) =>
  <A, E, R>(body: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(Effect.forkDetach(body, { startImmediately: true }), (fiber) =>
        Effect.onInterrupt(restore(Fiber.join(fiber)), () =>
          Effect.flatMap(Effect.timeoutOption(Fiber.interrupt(fiber), timeout), (ended) =>
            Option.isSome(ended)
              ? Effect.void
              : Effect.logWarning(
                  `Run ${executionId} cannot be interrupted; it is left behind, and stores nothing more`
                )
          )
        )
      )
    )
