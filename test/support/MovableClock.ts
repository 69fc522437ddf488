/**
 * The real clock, moved forward by what a test asks, elapsed time as well: databases and servers need time that passes
 * by itself.
 */
import { Clock, Context, Effect, Layer } from "effect"

export class MovableClock extends Context.Service<MovableClock, { readonly advance: (milliseconds: number) => void }>()(
  "ballast/test/MovableClock"
) {
  static readonly layer = Layer.effectContext(
    Effect.map(Clock.Clock, (real) => {
      let ahead = 0
      const millis = () => real.currentTimeMillisUnsafe() + ahead
      const nanos = () => BigInt(millis()) * 1_000_000n
      const monotonic = () => real.monotonicTimeNanosUnsafe() + BigInt(ahead) * 1_000_000n
      const clock: Clock.Clock = {
        currentTimeMillisUnsafe: millis,
        currentTimeMillis: Effect.sync(millis),
        currentTimeNanosUnsafe: nanos,
        currentTimeNanos: Effect.sync(nanos),
        monotonicTimeNanosUnsafe: monotonic,
        monotonicTimeNanos: Effect.sync(monotonic),
        sleep: (duration) => real.sleep(duration)
      }
      return Context.empty().pipe(
        Context.add(Clock.Clock, clock),
        Context.add(MovableClock, {
          advance: (milliseconds) => {
            ahead += milliseconds
          }
        })
      )
    })
  )
}
