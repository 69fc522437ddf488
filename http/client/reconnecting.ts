/**
 * Server-sent events over connections that end: the next connection is opened later after each failure in a row, and
 * never sooner than the server asks.
 */
import { Clock, Duration, Effect, Stream } from "effect"
import { Sse } from "effect/encoding"
import type { HttpClientResponse } from "effect/http"
import type { RateLimited } from "#domain/errors/Errors.ts"

/** Attempts in a row that come to nothing; the last one's error is the stream's. */
const maxFailures = 8
const firstPause = Duration.seconds(1)
const longestPause = Duration.seconds(30)
const maxEventSize = 1_048_576
/** How names of events begin that a stream sends of itself; why it ended is what the next connection answers. */
const ofTheStream = "stream."

/** What passes by itself: nobody answers, too many ask, the service has a fault. */
const isTransient = (error: { readonly _tag: string }): boolean =>
  ["HttpClientError", "RateLimited", "Internal"].includes(error._tag)

const isRateLimited = (error: { readonly _tag: string }): error is RateLimited => error._tag === "RateLimited"

/**
 * Events of a body. A `retry` field of the server goes to `onRetry`; events that a stream sends of itself are left out,
 * and their ids go to `onPosition`.
 */
export const framesOf = (
  response: HttpClientResponse.HttpClientResponse,
  onRetry: (pause: Duration.Duration) => void,
  onPosition?: (id: string) => void
) =>
  Stream.suspend(() => {
    let frames: Array<Sse.Event> = []
    const parser = Sse.makeParser(
      (event) => {
        if (event._tag === "Retry") onRetry(event.duration)
        else if (!event.event.startsWith(ofTheStream)) frames.push(event)
        else if (event.id !== undefined) onPosition?.(event.id)
      },
      { maxEventSize }
    )
    return response.stream.pipe(
      Stream.decodeText,
      Stream.mapEffect((text) => {
        frames = []
        const problem = parser.feed(text)
        return problem === undefined ? Effect.succeed(frames) : Effect.fail(problem)
      }),
      Stream.flattenIterable
    )
  })

/**
 * The streams of connections one after another. `connect` opens one, from where the last one ended; `wish` notes the
 * pause that the server asks for. Fails with what is not transient, and with the last failure of too many in a row.
 */
export const reconnecting = <A, E1 extends { readonly _tag: string }, R1, E2 extends { readonly _tag: string }, R2>(
  connect: (wish: (pause: Duration.Duration) => void) => Effect.Effect<Stream.Stream<A, E1, R1>, E2, R2>
): Stream.Stream<A, E1 | E2, R1 | R2> =>
  Stream.suspend(() => {
    let pause = firstPause
    let failures = 0
    let connectAt = 0

    const untilDue = Effect.flatMap(Clock.currentTimeMillis, (now) => Effect.sleep(Math.max(0, connectAt - now)))

    const planNext = (atLeast: Duration.Duration) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        const backoff = Duration.min(Duration.times(pause, 2 ** Math.max(0, failures - 1)), longestPause)
        connectAt = now + Duration.toMillis(Duration.max(backoff, atLeast))
      })

    const connection = Effect.suspend(() => connect((wished) => (pause = wished))).pipe(
      Effect.tap(() => Effect.sync(() => (failures = 0)))
    )
    const attempt = Stream.unwrap(connection).pipe(
      Stream.catchIf(isTransient, (error) => {
        failures += 1
        if (failures >= maxFailures) return Stream.fail(error)
        return Stream.fromEffectDrain(planNext(Duration.seconds(isRateLimited(error) ? error.retryAfterSeconds : 0)))
      }),
      Stream.concat(
        Stream.fromEffectDrain(Effect.suspend(() => (failures === 0 ? planNext(Duration.zero) : Effect.void)))
      )
    )
    return Stream.forever(Stream.concat(Stream.fromEffectDrain(untilDue), attempt))
  })
