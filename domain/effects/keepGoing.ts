/** Rounds of work for as long as the scope lives; a failed one is logged, and the next one tries again later. */
import { type Duration, Effect, type LogLevel, type Scope } from "effect"

interface Complaint {
  /** Logged with the cause of a fault. */
  readonly complaint: string
  /** Level of that log; an error when left out. */
  readonly level?: LogLevel.Severity
}

/**
 * The first round begins at once, in a fiber of its own. `round` returns the pause after it. A defect is a fault too,
 * and so is an interruption that comes from within the round: only the end of the scope ends the rounds.
 */
export const keepGoing = <E, R>(
  round: Effect.Effect<Duration.Duration, E, R>,
  { afterFault, complaint, level = "Error" }: Complaint & { readonly afterFault: Duration.Duration }
): Effect.Effect<void, never, R | Scope.Scope> =>
  Effect.flatMap(round, Effect.sleep).pipe(
    Effect.catchCause((cause) =>
      Effect.andThen(Effect.logWithLevel(level)(complaint, cause), Effect.sleep(afterFault))
    ),
    Effect.forever,
    Effect.forkScoped,
    Effect.asVoid
  )

/** Runs an effect for ever, with one pause after every round, whether it failed or not. */
export const keepGoingEvery = <A, E, R>(
  round: Effect.Effect<A, E, R>,
  { interval, ...complaint }: Complaint & { readonly interval: Duration.Duration }
): Effect.Effect<void, never, R | Scope.Scope> =>
  keepGoing(Effect.as(round, interval), { ...complaint, afterFault: interval })
