/**
 * A tenant's own requests that were refused or failed, for seven days: what an integrator reads first when something
 * does not work. Nothing of what was sent is kept. See docs/decisions/0202-refused-requests.md.
 *
 * Requests do not wait for the write: their notes are held here and written in batches. When the database cannot keep
 * up, what does not fit is dropped and counted.
 */
import { Context, DateTime, Duration, Effect, Layer, Queue, Semaphore } from "effect"
import { type Page, type PageQuery, page, pageRequest } from "#domain/values/Cursor.ts"
import type { CursorInvalid } from "#domain/errors/Errors.ts"
import { Caller } from "#domain/identity/Caller.ts"
import {
  type RefusedRequest,
  type RefusedRequestFilter,
  RefusedRequestStore
} from "#domain/request/RefusedRequestStore.ts"
import { keepGoingEvery } from "#domain/effects/keepGoing.ts"
import * as Metrics from "#domain/effects/Metrics.ts"
import { removeInBatches } from "#domain/effects/removeInBatches.ts"

const refusedRequestRetention = Duration.days(7)

/** What a call is kept by that shares its request with others, as over Effect's RPC. */
export const callOf = (requestId: string, callId: string): string => `${requestId}.${callId}`

/** The request of what was kept, without the call. */
export const requestOf = (requestId: string): string => requestId.split(".", 1)[0]!

/** Held at most, of all tenants; about a megabyte. */
export const capacity = 4_096
/** Written by one statement. */
const batch = 512
const writeEvery = Duration.seconds(1)
const pruneEvery = Duration.minutes(10)

/** Keys do not belong in a message; one that came there all the same is not kept. */
const key = /bk_(?:live|test)_[A-Za-z0-9_-]+/gu
const maxMessage = 500

/**
 * A tenant's requests that were refused or failed.
 *
 * **When to use**
 *
 * Use `note` in middleware, once an answer is known, and `list` in the route that shows them.
 */
export class RefusedRequests extends Context.Service<
  RefusedRequests,
  {
    /** Notes one. Never waits and never fails. */
    readonly note: (request: RefusedRequest) => void
    /** Newest first. What this process noted before is in it. */
    readonly list: (
      query: PageQuery & RefusedRequestFilter
    ) => Effect.Effect<Page<RefusedRequest>, CursorInvalid, Caller>
  }
>()("ballast/domain/request/RefusedRequests") {
  static readonly layer = Layer.effect(
    RefusedRequests,
    Effect.gen(function* () {
      const store = yield* RefusedRequestStore
      const held = yield* Queue.dropping<RefusedRequest>(capacity)
      const metrics = yield* Effect.context<never>()
      const turn = yield* Semaphore.make(1)

      const drop = (count: number) => Metrics.refusedRequestsDropped.updateUnsafe(count, metrics)

      const note = (request: RefusedRequest) => {
        const message = request.message?.replaceAll(key, "bk_...").slice(0, maxMessage) ?? null
        if (!Queue.offerUnsafe(held, { ...request, message })) drop(1)
      }

      const write = Effect.gen(function* () {
        while (Queue.sizeUnsafe(held) > 0) {
          const requests = yield* Queue.takeBetween(held, 1, batch)
          yield* Effect.onError(store.insert(requests), () => Effect.sync(() => drop(requests.length)))
        }
      }).pipe(turn.withPermits(1))

      // The last round: what is held when the process ends is written.
      yield* Effect.addFinalizer(() => Effect.ignoreCause(write))
      yield* keepGoingEvery(write, {
        complaint: "Refused requests could not be written",
        interval: writeEvery
      })

      const list = Effect.fn("RefusedRequests.list")(function* (query: PageQuery & RefusedRequestFilter) {
        const { tenantId } = yield* Caller
        const request = yield* pageRequest("requests", query)
        yield* write
        const notBefore = DateTime.subtractDuration(yield* DateTime.now, refusedRequestRetention)
        const since = query.since === undefined ? notBefore : DateTime.max(query.since, notBefore)
        const rows = yield* store.list(tenantId, { ...query, since }, request)
        return page({ list: "requests", limit: request.limit, rows }, (row) => ({
          createdAt: row.at,
          id: row.requestId
        }))
      })

      return RefusedRequests.of({ note, list })
    })
  )

  /** The fiber that removes what is older than seven days. */
  static readonly pruner = Layer.effectDiscard(
    Effect.gen(function* () {
      const store = yield* RefusedRequestStore
      const before = DateTime.subtractDuration(yield* DateTime.now, refusedRequestRetention)
      yield* removeInBatches((limit) => store.prune(before, limit))
    }).pipe(Effect.withSpan("RefusedRequests.prune"), (round) =>
      keepGoingEvery(round, { complaint: "Old refused requests could not be removed", interval: pruneEvery })
    )
  )
}
