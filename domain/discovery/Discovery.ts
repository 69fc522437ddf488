/**
 * Public strategies of all tenants that a user may be enrolled into. Source: interface "GET /v2/discovery/strategies".
 */
import { Context, DateTime, Effect, Layer } from "effect"
import type { Page } from "#domain/values/Cursor.ts"
import type { Collection } from "#domain/discovery/Collection.ts"
import * as DiscoveryCursor from "#domain/discovery/DiscoveryCursor.ts"
import type { DiscoveryItem, DiscoveryMetrics } from "#domain/discovery/DiscoveryItem.ts"
import { type DiscoveryEntry, DiscoveryStore } from "#domain/discovery/DiscoveryStore.ts"
import { defaultSort, type Sort } from "#domain/discovery/Sort.ts"
import { type CursorInvalid, ValidationFailed } from "#domain/errors/Errors.ts"
import { DiscoverySettings } from "#domain/discovery/DiscoverySettings.ts"

/** Most items a page, and how many when the request does not say. */
export const maxItems = 50

/** Analytics that missed this many passes say nothing about the present. */
const intervalsUntilStale = 3

export interface DiscoveryQuery {
  readonly collection: Collection
  /** Ignored for `curated`; on follow-up pages the cursor has it. */
  readonly sort?: Sort | undefined
  readonly limit?: number | undefined
  readonly cursor?: string | undefined
}

const unknown: DiscoveryMetrics = { tvlUsd: null, portfolioCount: null, windows: [] }

/**
 * Public strategies, ranked.
 *
 * **When to use**
 *
 * Use in the route that lists strategies of all tenants. A tenant's own strategies are `Strategies`.
 */
export class Discovery extends Context.Service<
  Discovery,
  {
    /**
     * One page of a collection. Between two passes of the analytics a ranking stands still, and following its cursors
     * shows each item once; an item that a pass moves across the cursor in between is shown twice or not at all.
     */
    readonly list: (query: DiscoveryQuery) => Effect.Effect<Page<DiscoveryItem>, CursorInvalid | ValidationFailed>
  }
>()("ballast/domain/discovery/Discovery") {
  static readonly layer = Layer.effect(
    Discovery,
    Effect.gen(function* () {
      const store = yield* DiscoveryStore
      const { intervalMs } = yield* DiscoverySettings
      const staleAfterMs = intervalMs * intervalsUntilStale

      const curated = Effect.fnUntraced(function* (cursor: string | undefined, limit: number) {
        const after = cursor === undefined ? null : yield* DiscoveryCursor.decodePosition("curated", cursor)
        return yield* store.curated(after, limit)
      })

      const ranked = Effect.fnUntraced(function* ({ cursor, sort }: DiscoveryQuery, limit: number) {
        const after = cursor === undefined ? null : yield* DiscoveryCursor.decodePosition("top_performing", cursor)
        if (after !== null && sort !== undefined && sort !== after.sort) {
          return yield* new ValidationFailed({
            message: "The cursor belongs to another sort; leave sort out, or begin again without a cursor",
            details: [`sort: is ${sort}, and the cursor was issued for ${after.sort}`]
          })
        }
        return yield* store.ranked(after?.sort ?? sort ?? defaultSort, after, limit)
      })

      const list = Effect.fn("Discovery.list")(function* (query: DiscoveryQuery) {
        const limit = query.limit ?? maxItems
        const found = yield* query.collection === "curated" ? curated(query.cursor, limit) : ranked(query, limit)
        const now = yield* DateTime.now
        const isStale = ({ measuredAt }: DiscoveryEntry) =>
          measuredAt === null || now.epochMilliseconds - measuredAt.epochMilliseconds > staleAfterMs
        const entries = found.slice(0, limit)
        const last = entries.at(-1)
        return {
          items: entries.map((entry) => (isStale(entry) ? { ...entry.item, metrics: unknown } : entry.item)),
          nextCursor: found.length > limit && last !== undefined ? DiscoveryCursor.encodePosition(last.position) : null
        }
      })

      return Discovery.of({ list })
    })
  )
}
