/**
 * Ends a run that fails by a fault of ours with a last step of its own, with the cause in the log: the operation
 * becomes terminal and its portfolio free. An interruption is no fault, nor is one of storage; the run goes on later.
 */
import { Cause, Effect } from "effect"
import { TransientFault } from "#domain/errors/TransientFault.ts"

export const failOnDefect =
  <A, E2, R2>(message: string, abandon: Effect.Effect<A, E2, R2>) =>
  <E, R>(run: Effect.Effect<A, E, R>): Effect.Effect<A, E | E2, R | R2> =>
    Effect.catchCause(run, (cause) =>
      Effect.flatMap(TransientFault, (isTransient): Effect.Effect<A, E | E2, R2> => {
        const faults = cause.reasons.flatMap((reason) =>
          Cause.isDieReason(reason) ? [reason.defect] : Cause.isFailReason(reason) ? [reason.error] : []
        )
        return Cause.hasInterrupts(cause) || faults.some(isTransient)
          ? Effect.failCause(cause)
          : Effect.andThen(Effect.logError(message, cause), abandon)
      })
    )
