/** The times of streams. Tests make them shorter. */
import { Context, Duration } from "effect"

export const StreamTiming = Context.Reference("ballast/http/v1/StreamTiming", {
  defaultValue: () => ({
    /** Between comments that keep a connection. */
    heartbeat: Duration.seconds(15),
    /** How long a client may read nothing while something waits for it. */
    timeout: Duration.seconds(30),
    /** How long a connection lasts at most. */
    longest: Duration.minutes(15)
  })
})
