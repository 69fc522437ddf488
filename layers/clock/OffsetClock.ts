/**
 * A clock that shows another machine's time at this machine's pace.
 *
 * Time is what was last set plus what this machine's monotonic clock counted since, so what becomes of its wall clock
 * does not show. Waits are this machine's: a correction neither ends nor lengthens one. A small correction backwards is
 * made by standing still, so that what is written in turn is in order; a large one is made at once, or time would stand
 * for as long as it was wrong.
 */
import { type Clock, Duration, Effect } from "effect"

/** The longest that time stands still for a correction. */
const longestStand = BigInt(Duration.toMillis("5 seconds")) * 1_000_000n

const nanosPerMilli = 1_000_000

export class OffsetClock implements Clock.Clock {
  readonly #local: Clock.Clock
  /** What is added to this machine's monotonic time. */
  #offsetNanos = 0n
  #latestNanos = 0n

  /** `local` is the machine's clock; `now` is Unix time in milliseconds. */
  constructor(local: Clock.Clock, now: number) {
    this.#local = local
    this.set(now)
  }

  readonly currentTimeMillis = Effect.sync(() => this.currentTimeMillisUnsafe())
  readonly currentTimeNanos = Effect.sync(() => this.currentTimeNanosUnsafe())
  readonly monotonicTimeNanos = Effect.sync(() => this.monotonicTimeNanosUnsafe())

  currentTimeNanosUnsafe(): bigint {
    const nanos = this.#local.monotonicTimeNanosUnsafe() + this.#offsetNanos
    const back = this.#latestNanos - nanos
    if (back > 0n && back <= longestStand) return this.#latestNanos
    this.#latestNanos = nanos
    return nanos
  }

  currentTimeMillisUnsafe(): number {
    return Number(this.currentTimeNanosUnsafe() / BigInt(nanosPerMilli))
  }

  monotonicTimeNanosUnsafe(): bigint {
    return this.#local.monotonicTimeNanosUnsafe()
  }

  sleep(duration: Duration.Duration): Effect.Effect<void> {
    return this.#local.sleep(duration)
  }

  /** Sets the time; Unix time in milliseconds, which may have a fraction. */
  set(now: number): void {
    this.#offsetNanos = BigInt(Math.round(now * nanosPerMilli)) - this.#local.monotonicTimeNanosUnsafe()
  }
}
