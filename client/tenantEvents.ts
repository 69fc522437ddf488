/**
 * Follows the tenant's log from a program or a browser: each event once and in order, over connections that end. Fails
 * with the class of the API error when the key is refused, and with the last transport error after `maxFailures`
 * attempts in a row that came to nothing. Needs an `HttpClient`.
 */
import { Clock, Duration, Effect, Schema, Stream } from "effect"
import { framesOf } from "#http/v1/executionEvents.ts"
import { TenantEvent } from "#http/v2/event/EventModel.ts"
import { type ClientOptions, makeClient } from "#http/v2/client.ts"

const maxFailures = 8
const longestPause = Duration.seconds(30)

const decodeEvent = Schema.decodeUnknownEffect(Schema.fromJsonString(TenantEvent))

/** What passes by itself: nobody answers, too many ask, the service has a fault. */
const isTransient = (error: { readonly _tag: string }): boolean =>
  ["HttpClientError", "RateLimited", "Internal"].includes(error._tag)

/** `after` is the `eventId` of the last event that was seen, `0` for all that are kept; left out: from now on. */
export const tenantEvents = (options: ClientOptions, after?: string) =>
  Stream.unwrap(
    Effect.gen(function* () {
      const ballast = yield* makeClient(options)
      let last = after
      let failures = 0
      let pause = Duration.seconds(1)
      let connectAt = 0

      const connection = Effect.gen(function* () {
        const [, response] = yield* ballast.events.streamEvents({
          headers: last === undefined ? {} : { "last-event-id": last },
          responseMode: "decoded-and-response"
        })
        failures = 0
        const frames = framesOf(response, (wished, place) => {
          pause = wished
          // Where the log stood at the first connection, so that the next one misses nothing.
          last ??= place
        })
        return frames.pipe(
          Stream.mapEffect(({ data }) => decodeEvent(data)),
          Stream.tap(({ eventId }) =>
            Effect.sync(() => {
              last = eventId
            })
          )
        )
      })

      /** When to connect again: later after each failure in a row, and never sooner than the server asks. */
      const plan = (atLeast: Duration.Duration) =>
        Effect.map(Clock.currentTimeMillis, (now) => {
          const backoff = Duration.min(Duration.times(pause, 2 ** Math.max(0, failures - 1)), longestPause)
          connectAt = now + Duration.toMillis(Duration.max(backoff, atLeast))
        })
      const untilDue = Effect.flatMap(Clock.currentTimeMillis, (now) => Effect.sleep(Math.max(0, connectAt - now)))

      const attempt = Stream.unwrap(Effect.suspend(() => connection)).pipe(
        Stream.catchIf(isTransient, (error) => {
          failures += 1
          if (failures >= maxFailures) return Stream.fail(error)
          const seconds = error._tag === "RateLimited" ? error.retryAfterSeconds : 0
          return Stream.fromEffectDrain(plan(Duration.seconds(seconds)))
        }),
        Stream.concat(
          Stream.fromEffectDrain(Effect.suspend(() => (failures === 0 ? plan(Duration.zero) : Effect.void)))
        )
      )
      return Stream.forever(Stream.concat(Stream.fromEffectDrain(untilDue), attempt))
    })
  )
