/** The times of streams, and how much may wait for a client. Tests make them shorter. */
import { Context, Duration } from "effect"

export const StreamTiming = Context.Reference("ballast/http/streaming/StreamTiming", {
  defaultValue: () => ({
    /** Pause between comments that keep a connection. */
    heartbeat: Duration.seconds(15),
    /** Bytes that may wait for a client. */
    budget: 262_144,
    /** How long a client may read nothing while as much as that waits for it. */
    grace: Duration.seconds(5),
    /** How long a client may read nothing while anything waits for it. */
    timeout: Duration.seconds(30),
    /** How long a connection lasts at most. */
    longest: Duration.minutes(15)
  })
})
