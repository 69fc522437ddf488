/**
 * Follows the tenant's log from a program or a browser: each event once and in order, over connections that end. Fails
 * with the class of the API error when the key is refused, and with the last transport error after `maxFailures`
 * attempts in a row that came to nothing. Needs an `HttpClient`.
 */
import { Effect, Stream } from "effect"
import type { TenantEvent } from "#http/v2/event/EventModel.ts"
import { type ClientOptions, makeClient } from "#http/v2/client.ts"

const maxFailures = 8
const firstPauseMs = 500
const longestPauseMs = 30_000

/** What passes by itself: nobody answers, too many ask, the service has a fault, a frame was cut off. */
const transient = ["HttpClientError", "RateLimited", "Internal", "Retry", "SseError"]

const isTransient = (error: { readonly _tag: string }): boolean => transient.includes(error._tag)

/** `after` is the `eventId` of the last event that was seen, `0` for all that are kept; left out: from now on. */
export const tenantEvents = (options: ClientOptions, after?: string) =>
  Stream.unwrap(
    Effect.gen(function* () {
      const ballast = yield* makeClient(options)
      let last = after
      let failures = 0

      const note = (event: typeof TenantEvent.Type) => {
        last = event.eventId
        failures = 0
      }

      const connection = Effect.map(
        ballast.events.streamEvents({ headers: last === undefined ? {} : { "last-event-id": last } }),
        Stream.tap((event) => Effect.sync(() => note(event)))
      )
      const pause = (seconds: number) =>
        Effect.suspend(() =>
          Effect.sleep(
            Math.max(seconds * 1_000, Math.min(longestPauseMs, firstPauseMs * 2 ** Math.max(0, failures - 1)))
          )
        )
      const attempt = Stream.unwrap(Effect.suspend(() => connection)).pipe(
        Stream.catchIf(isTransient, (error) => {
          failures += 1
          if (failures >= maxFailures) return Stream.fail(error)
          return Stream.fromEffectDrain(pause("retryAfterSeconds" in error ? Number(error.retryAfterSeconds) : 0))
        })
      )
      return Stream.forever(Stream.concat(attempt, Stream.fromEffectDrain(pause(0))))
    })
  )
