import { Duration, Effect } from "effect"

/** Waits on the machine's timer, whatever clock the program follows. */
export const sleepRealTime = (duration: Duration.Duration): Effect.Effect<void> =>
  Effect.callback((resume) => {
    const timer = setTimeout(() => resume(Effect.void), Duration.toMillis(duration))
    return Effect.sync(() => clearTimeout(timer))
  })

/**
 * Ends an effect that takes longer than `limit` of real time with the error of `orFail`.
 *
 * For waits on the outside world: a provider's answer takes as long as it takes, and moving the followed clock a day
 * ahead must not time out every request in flight.
 */
export const withinRealTime =
  <E2>(limit: Duration.Duration, orFail: () => E2) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | E2, R> =>
    Effect.raceFirst(
      effect,
      Effect.andThen(
        sleepRealTime(limit),
        Effect.suspend(() => Effect.fail(orFail()))
      )
    )
