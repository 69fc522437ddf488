/**
 * Ends waits for answers that do not come. All waits are equally long, so they end in the order in which they began:
 * one fiber checks the oldest once a second, and a request that is answered costs an entry of a set.
 */
import { Clock, Context, Duration, Effect, Layer, Option } from "effect"
import { Unavailable } from "#domain/errors/Errors.ts"
import { AnswerSettings } from "#domain/request/AnswerSettings.ts"

const checkInterval = Duration.seconds(1)

/** An answer that has not come in time. What was asked for may have been done. */
export const lateAnswer = (length: string) =>
  new Unavailable({ message: `There was no answer within ${length}; see what was done, and send the request again` })

interface Wait {
  /** Monotonic nanoseconds, as the wall clock may be moved. */
  readonly end: bigint
  readonly late: () => void
}

/**
 * The end of waits for answers.
 *
 * **When to use**
 *
 * Use around everything that answers once, by a response or by a message of a socket; never around streams.
 */
export class AnswerDeadlines extends Context.Service<
  AnswerDeadlines,
  {
    /** Calls back once when the answer is late, within a second. Returns how to end the wait before. */
    readonly await: (late: () => void) => () => void
    /** Fails when the effect is late, and interrupts it. */
    readonly within: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E | Unavailable, R>
    /** Length for people, such as `60 seconds`. */
    readonly length: string
  }
>()("ballast/domain/request/AnswerDeadlines") {
  static readonly layer = Layer.effect(
    AnswerDeadlines,
    Effect.gen(function* () {
      const { longest } = yield* AnswerSettings
      const clock = yield* Clock.Clock
      const nanos = Option.getOrThrow(Duration.toNanos(longest))
      const waits = new Set<Wait>()

      const end = Effect.sync(() => {
        const now = clock.monotonicTimeNanosUnsafe()
        for (const wait of waits) {
          if (wait.end > now) return
          waits.delete(wait)
          wait.late()
        }
      })
      yield* Effect.forkScoped(Effect.forever(Effect.delay(end, checkInterval)))

      const begin = (late: () => void) => {
        const wait = { end: clock.monotonicTimeNanosUnsafe() + nanos, late }
        waits.add(wait)
        return () => void waits.delete(wait)
      }

      const length = `${Duration.toSeconds(longest)} seconds`
      const late = Effect.callback<never, Unavailable>((resume) => {
        const stop = begin(() => resume(Effect.fail(lateAnswer(length))))
        return Effect.sync(stop)
      })

      return AnswerDeadlines.of({ await: begin, within: (effect) => Effect.raceFirst(effect, late), length })
    })
  )
}
