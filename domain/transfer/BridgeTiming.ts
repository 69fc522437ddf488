/** How often a transfer between chains is looked at. Tests make it shorter. */
import { Context, Duration, Schedule } from "effect"

export const BridgeTiming = Context.Reference("ballast/domain/transfer/BridgeTiming", {
  defaultValue: () => ({
    /** Looks of one round. */
    looks: 6,
    /** The pause between two of them: fast bridges take seconds. */
    pollInterval: Schedule.min([
      Schedule.exponential(Duration.millis(500), 1.5),
      Schedule.spaced(Duration.seconds(5))
    ]) as Schedule.Schedule<unknown>,
    /**
     * The pause after a round, numbered from zero: half a minute after a minute, later ten minutes, as a bridge may
     * take hours.
     */
    waitFor: (round: number): Duration.Duration => Duration.seconds(Math.min(600, 15 * 2 ** Math.min(round, 6)))
  })
})
