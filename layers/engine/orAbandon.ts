/**
 * Ends a run that dies of a fault of ours by a last step of its own, with the cause in the log: the operation becomes
 * terminal and its portfolio free. An interruption is no fault, nor is one of the database; the run goes on later.
 */
import { Cause, Effect } from "effect"
import { isPassing } from "#layers/engine/durable/isPassing.ts"

export const orAbandon =
  <A, E2, R2>(message: string, abandon: Effect.Effect<A, E2, R2>) =>
  <E, R>(run: Effect.Effect<A, E, R>): Effect.Effect<A, E | E2, R | R2> =>
    Effect.catchCause(run, (cause): Effect.Effect<A, E | E2, R2> =>
      Cause.hasInterrupts(cause) || isPassing(cause)
        ? Effect.failCause(cause)
        : Effect.andThen(Effect.logError(message, cause), abandon)
    )
