/** Rounds of work for as long as the scope lives; a failed one is logged, and the next one tries again later. */
import { Cause, type Duration, Effect, type LogLevel, type Scope } from "effect"
import { TransientFault } from "#domain/errors/TransientFault.ts"

interface Complaint {
  /** Logged with the cause of a fault. */
  readonly complaint: string
  /** Level of that log; an error when left out. */
  readonly level?: LogLevel.Severity
}

/** The sentences of an error and of what caused it, the innermost last. */
const sentencesOf = (fault: unknown): string => {
  const sentences: Array<string> = []
  for (let next = fault; next instanceof Error && sentences.length < 5; next = next.cause)
    if (!sentences.includes(next.message)) sentences.push(next.message)
  return sentences.join(": ")
}

/**
 * Logs a failed round. While storage is away, every round fails for one reason that is none of ours: a line with that
 * reason, and no stack.
 */
const complain = ({ complaint, level = "Error" }: Complaint, cause: Cause.Cause<unknown>) =>
  Effect.flatMap(TransientFault, (isTransient) => {
    const faults = cause.reasons.map((reason) =>
      Cause.isDieReason(reason) ? reason.defect : Cause.isFailReason(reason) ? reason.error : undefined
    )
    if (faults.length === 0 || !faults.every(isTransient)) return Effect.logWithLevel(level)(complaint, cause)
    return Effect.logWithLevel(level === "Error" ? "Warn" : level)(`${complaint}: ${sentencesOf(faults[0])}`)
  })

/**
 * The first round begins at once, in a fiber of its own. `round` returns the pause after it. A defect is a fault too,
 * and so is an interruption that comes from within the round: only the end of the scope ends the rounds.
 */
export const keepGoing = <E, R>(
  round: Effect.Effect<Duration.Duration, E, R>,
  { afterFault, ...complaint }: Complaint & { readonly afterFault: Duration.Duration }
): Effect.Effect<void, never, R | Scope.Scope> =>
  Effect.flatMap(round, Effect.sleep).pipe(
    Effect.catchCause((cause) => Effect.andThen(complain(complaint, cause), Effect.sleep(afterFault))),
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
