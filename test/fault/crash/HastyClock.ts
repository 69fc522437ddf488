/**
 * A clock whose time passes faster than it waits: an operation whose launch was lost counts as lost soon, and nothing
 * else takes less real time. All processes of a scenario read the same time from it.
 */
import { Clock, Effect, Layer } from "effect"

const pace = 10

/** `since` is Unix time in milliseconds at which it agreed with the machine. */
export const hastyClock = (since: number) =>
  Layer.effect(
    Clock.Clock,
    Effect.map(Clock.Clock, (machine): Clock.Clock => {
      const millis = () => since + (machine.currentTimeMillisUnsafe() - since) * pace
      const nanos = () => BigInt(Math.round(millis())) * 1_000_000n
      return {
        currentTimeMillisUnsafe: millis,
        currentTimeMillis: Effect.sync(millis),
        currentTimeNanosUnsafe: nanos,
        currentTimeNanos: Effect.sync(nanos),
        monotonicTimeNanosUnsafe: () => machine.monotonicTimeNanosUnsafe(),
        monotonicTimeNanos: machine.monotonicTimeNanos,
        sleep: (duration) => machine.sleep(duration)
      }
    })
  )
