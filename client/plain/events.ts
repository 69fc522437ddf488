/** The tenant's log of events. */
import { tenantEvents } from "#client/tenantEvents.ts"
import type { Call, CallOptions, ConnectOptions } from "#client/plain/Call.ts"
import { accountOf, iterate } from "#client/plain/iterate.ts"
import { pagesOf } from "#client/plain/pages.ts"

export interface Place {
  /** `eventId` of the last event that was seen; `0` for all that are kept. */
  readonly after?: string
}

export const eventsOf = (call: Call, connection: ConnectOptions) => ({
  /** What happened until now, oldest first: the loop ends with the newest. Cursors are numbers of events. */
  list: ({ after = "0", limit }: Place & { readonly limit?: number } = {}, options?: CallOptions) =>
    pagesOf(async (cursor = after) => {
      const query = { after: cursor, ...(limit === undefined ? {} : { limit }) }
      const { events, hasMore, lastEventId } = await call("listEvents", { query, ...options })
      return { items: events, nextCursor: hasMore ? lastEventId : null }
    }),
  /** Each event once and in order, over connections that end; from now on, or after the event `after`. Never ends. */
  follow: ({ after }: Place = {}) => iterate(tenantEvents(accountOf(connection), after), connection)
})
