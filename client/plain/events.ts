/** The tenant's log of events. */
import type { Call, CallOptions, DataOf } from "#client/plain/Call.ts"
import { type Pages, pagesOf } from "#client/plain/pages.ts"
import type { Connection } from "#client/transport/Connection.ts"
import { follow, mapped } from "#client/transport/follow.ts"

export interface EventPosition {
  /** `eventId` of the last event that was seen; `0` for all that are kept. */
  readonly after?: string
}

type Event = DataOf<"listEvents">["events"][number]

/** The tenant's log of events. An `after` that is no number of an event is `API_002`. */
export interface Events {
  /**
   * What happened until now, oldest first: the loop ends with the newest. Use it to catch up, and `follow` to go on.
   */
  readonly list: (query?: EventPosition & { readonly limit?: number }, options?: CallOptions) => Pages<Event>
  /** Each event once and in order, over connections that end; from now on, or after the event `after`. Never ends. */
  readonly follow: (position?: EventPosition) => AsyncIterable<Event>
}

export const eventsOf = (call: Call, connection: Connection): Events => ({
  // Cursors are numbers of events.
  list: ({ after = "0", limit }: EventPosition & { readonly limit?: number } = {}, options?: CallOptions) =>
    pagesOf(async (cursor = after) => {
      const query = { after: cursor, ...(limit === undefined ? {} : { limit }) }
      const { events, hasMore, lastEventId } = await call("listEvents", { query, ...options })
      return { items: events, nextCursor: hasMore ? lastEventId : null }
    }),
  follow: ({ after }: EventPosition = {}) =>
    mapped(follow({ connection, method: "GET", path: "/v2/events/stream", after }), (event) => event as Event)
})
