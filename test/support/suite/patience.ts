/**
 * How long a test waits for what comes by itself. The bound ends a test that hangs and says nothing about speed: a
 * machine five times as slow as usual still passes.
 */
import { Duration } from "effect"

export const patience = Duration.minutes(4)

export const patienceMillis = Duration.toMillis(patience)
