/** Port: how right the clock of this machine is. */
import { Context, Effect } from "effect"

/**
 * Milliseconds by which this machine's clock is ahead of the time that all processes of a deployment share; negative
 * where it is behind. Zero where no other clock is followed.
 *
 * **When to use**
 *
 * Use to report a machine whose clock is wrong. What the service stamps and compares is the time of the runtime, which
 * follows the shared one.
 */
export const MachineClock = Context.Reference<{ readonly aheadMillis: Effect.Effect<number> }>(
  "ballast/domain/health/MachineClock",
  { defaultValue: () => ({ aheadMillis: Effect.succeed(0) }) }
)
