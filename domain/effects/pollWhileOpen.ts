/** Polls while the latch is open, stops while it is closed, and goes on after a fault, a while later. */
import { Duration, Effect, type Latch, type Scope } from "effect"
import { keepGoing } from "#domain/effects/keepGoing.ts"

/** Pause between a fault and the next poll. */
const afterFault = Duration.seconds(2)

/** Runs until the scope closes; `complaint` is logged with the cause of a fault. */
export const pollWhileOpen = (
  latch: Latch.Latch,
  poll: Effect.Effect<void>,
  { complaint, interval }: { readonly complaint: string; readonly interval: Duration.Duration }
): Effect.Effect<void, never, Scope.Scope> =>
  latch.await.pipe(Effect.andThen(Effect.sleep(interval)), Effect.andThen(poll), Effect.as(Duration.zero), (round) =>
    keepGoing(round, { complaint, level: "Warn", afterFault })
  )
