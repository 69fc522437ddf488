/**
 * A clock that runs at the pace of the machine and can be set forward.
 *
 * Time is the last setting plus what the machine's monotonic clock counted since, so corrections of the system's wall
 * clock do not show. It never goes backwards: set to an earlier time it stands still until that time has caught up.
 */
import { type Clock, Duration, Effect } from "effect"
import { WakeQueue } from "#layers/clock/WakeQueue.ts"

/** The longest wait that a timer of the runtime can hold. */
const longestTimer = 2 ** 31 - 1

const nanosPerMilli = 1_000_000

export class FollowingClock implements Clock.Clock {
  readonly #local: Clock.Clock
  readonly #sleepers = new WakeQueue()
  #anchorMillis: number
  #anchorMonotonic: bigint
  #latestNanos = 0n
  #timer: ReturnType<typeof setTimeout> | undefined

  /** `local` is the machine's clock; `now` is Unix time in milliseconds. */
  constructor(local: Clock.Clock, now: number) {
    this.#local = local
    this.#anchorMillis = now
    this.#anchorMonotonic = local.monotonicTimeNanosUnsafe()
  }

  readonly currentTimeMillis = Effect.sync(() => this.currentTimeMillisUnsafe())
  readonly currentTimeNanos = Effect.sync(() => this.currentTimeNanosUnsafe())
  /** Elapsed time is the machine's: a jump of the time that is followed did not take that long. */
  readonly monotonicTimeNanos = Effect.sync(() => this.monotonicTimeNanosUnsafe())

  currentTimeNanosUnsafe(): bigint {
    const elapsed = this.#local.monotonicTimeNanosUnsafe() - this.#anchorMonotonic
    const nanos = BigInt(Math.round(this.#anchorMillis * nanosPerMilli)) + elapsed
    if (nanos > this.#latestNanos) this.#latestNanos = nanos
    return this.#latestNanos
  }

  currentTimeMillisUnsafe(): number {
    return Number(this.currentTimeNanosUnsafe() / BigInt(nanosPerMilli))
  }

  monotonicTimeNanosUnsafe(): bigint {
    return this.#local.monotonicTimeNanosUnsafe()
  }

  sleep(duration: Duration.Duration): Effect.Effect<void> {
    const millis = Duration.toMillis(duration)
    if (millis <= 0) return Effect.yieldNow
    if (!Number.isFinite(millis)) return Effect.never
    return Effect.callback<void>((resume) => {
      const cancel = this.#sleepers.add({ wakeAt: this.#now() + millis, wake: () => resume(Effect.void) })
      this.#arm()
      return Effect.sync(() => {
        cancel()
        this.#arm()
      })
    })
  }

  /** Sets the time and wakes everyone whose time has come. */
  set(now: number): void {
    this.currentTimeNanosUnsafe()
    this.#anchorMillis = now
    this.#anchorMonotonic = this.#local.monotonicTimeNanosUnsafe()
    this.#wakeDue()
  }

  /** Milliseconds with their fraction, so that a short sleep is not cut shorter. */
  #now(): number {
    return Number(this.currentTimeNanosUnsafe()) / nanosPerMilli
  }

  #wakeDue(): void {
    for (const sleeper of this.#sleepers.due(this.#now())) sleeper.wake()
    this.#arm()
  }

  /** One timer serves all sleepers. It may fire early; `#wakeDue` then arms the rest of the wait. */
  #arm(): void {
    clearTimeout(this.#timer)
    const { next } = this.#sleepers
    this.#timer =
      next === undefined
        ? undefined
        : setTimeout(() => this.#wakeDue(), Math.min(Math.max(1, Math.ceil(next - this.#now())), longestTimer))
  }
}
