/**
 * Follows the tenant's log from a program or a browser: each event once and in order, over connections that end. Fails
 * with the class of the API error when the key is refused, and with the last transport error after eight attempts in a
 * row that came to nothing. Needs an `HttpClient`.
 */
import { Effect, Schema, Stream } from "effect"
import { framesOf, reconnecting } from "#http/client/reconnecting.ts"
import { TenantEvent } from "#http/v2/event/EventModel.ts"
import { type ClientOptions, makeClient } from "#http/client/client.ts"

const decodeEvent = Schema.decodeUnknownEffect(Schema.fromJsonString(TenantEvent))

/** `after` is the `eventId` of the last event that was seen, `0` for all that are kept; left out: from now on. */
export const tenantEvents = (options: ClientOptions, after?: string) =>
  Stream.unwrap(
    Effect.gen(function* () {
      const ballast = yield* makeClient(options)
      let last = after

      return reconnecting(
        Effect.fnUntraced(function* (wish) {
          const [, response] = yield* ballast.events.streamEvents({
            headers: last === undefined ? {} : { "last-event-id": last },
            responseMode: "decoded-and-response"
          })
          // Where the log stood at the first connection, so that the next one misses nothing.
          const frames = framesOf(response, wish, (position) => (last ??= position))
          return frames.pipe(
            Stream.mapEffect(({ data }) => decodeEvent(data)),
            Stream.tap(({ eventId }) =>
              Effect.sync(() => {
                last = eventId
              })
            )
          )
        })
      )
    })
  )
