/** Rounds of work for as long as the scope lives; a failed one is logged, and the next one tries again later. */
import { Cause, type Duration, Effect, type Scope } from "effect"

/** `round` returns the pause after it; `complaint` is logged with the cause of a fault. */
export const keepGoing = <E, R>(
  round: Effect.Effect<Duration.Duration, E, R>,
  { afterFault, complaint }: { readonly complaint: string; readonly afterFault: Duration.Duration }
): Effect.Effect<void, never, R | Scope.Scope> =>
  Effect.flatMap(round, Effect.sleep).pipe(
    Effect.catchCause((cause) =>
      Cause.hasInterrupts(cause)
        ? Effect.failCause(cause)
        : Effect.andThen(Effect.logError(complaint, cause), Effect.sleep(afterFault))
    ),
    Effect.forever,
    Effect.forkScoped,
    Effect.asVoid
  )
