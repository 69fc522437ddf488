/** Polls while the latch is open, stops while it is closed, and goes on after a fault, a while later. */
import { Cause, Duration, Effect, type Latch } from "effect"

/** Between a fault and the next poll. */
const afterFault = Duration.seconds(2)

/** Runs until the scope closes; `complaint` is logged with the cause of a fault. */
export const pollWhileOpen = (
  latch: Latch.Latch,
  poll: Effect.Effect<void>,
  { complaint, interval }: { readonly complaint: string; readonly interval: Duration.Duration }
) =>
  latch.await.pipe(
    Effect.andThen(Effect.sleep(interval)),
    Effect.andThen(
      Effect.catchCause(poll, (cause) =>
        Cause.hasInterrupts(cause)
          ? Effect.failCause(cause)
          : Effect.andThen(Effect.logWarning(complaint, cause), Effect.sleep(afterFault))
      )
    ),
    Effect.forever,
    Effect.forkScoped
  )
