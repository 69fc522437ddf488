/**
 * The calling tenant's events: pages of the log, and the log as it grows. Events are kept for 30 days; a client that
 * has seen one resumes after it, on any process, and misses none.
 */
import { Context, DateTime, Duration, Effect, Layer, Option, Stream } from "effect"
import { CursorInvalid } from "#domain/errors/Errors.ts"
import { makeWaiters } from "#domain/event/EventWaiters.ts"
import type { TenantEvent } from "#domain/event/TenantEvent.ts"
import { TenantEventLog } from "#domain/event/TenantEventLog.ts"
import { Caller } from "#domain/identity/Caller.ts"
import type { TenantId } from "#domain/values/Ids.ts"
import { removeInBatches } from "#domain/effects/removeInBatches.ts"
import { keepGoingEvery } from "#domain/effects/keepGoing.ts"

/** How long an event can be read. */
export const eventRetention = Duration.days(30)

/** Events that a stream reads in one statement. */
const pageSize = 200

const pruneInterval = Duration.minutes(10)

export interface TenantEventPage {
  readonly events: ReadonlyArray<TenantEvent>
  /** There are more after the last one. */
  readonly hasMore: boolean
}

/**
 * The calling tenant's events, in pages and as they come.
 *
 * **When to use**
 *
 * Use for all that happens to a tenant. Streams of one operation, with its steps, are `Executions`.
 */
export class TenantEvents extends Context.Service<
  TenantEvents,
  {
    /** Events after a number; 0 for the first that is kept. */
    readonly page: (after: number, limit: number) => Effect.Effect<TenantEventPage, CursorInvalid, Caller>
    /**
     * All events after a number, and then each as it comes; without a number those that come from now on. Never ends.
     * `from` is the number that the events come after.
     */
    readonly follow: (
      after: number | undefined
    ) => Effect.Effect<{ readonly from: number; readonly events: Stream.Stream<TenantEvent> }, CursorInvalid, Caller>
  }
>()("ballast/domain/event/TenantEvents") {
  static readonly layer = Layer.effect(
    TenantEvents,
    Effect.gen(function* () {
      const log = yield* TenantEventLog
      const waitFor = yield* makeWaiters(log)

      /** Refuses a position that the log has not reached, and one from which events are gone. */
      const check = Effect.fnUntraced(function* (tenantId: TenantId, after: number) {
        const { first, last } = yield* log.range(tenantId)
        if (after > last)
          return yield* new CursorInvalid({
            message: `There is no event ${after} of this tenant; the last one is ${last}`,
            details: ["after: not an event of this log"]
          })
        if (after !== 0 && after < first - 1)
          return yield* new CursorInvalid({
            message: `Events up to ${first - 1} are gone after 30 days; begin at 0 and read the portfolios anew`,
            details: ["after: too old"]
          })
      })

      const page = Effect.fn("TenantEvents.page")(function* (after: number, limit: number) {
        const { tenantId } = yield* Caller
        yield* check(tenantId, after)
        const events = yield* log.read(tenantId, after, limit + 1)
        return { events: events.slice(0, limit), hasMore: events.length > limit }
      })

      const follow = Effect.fn("TenantEvents.follow")(function* (after: number | undefined) {
        const { tenantId } = yield* Caller
        if (after !== undefined) yield* check(tenantId, after)
        const from = after ?? (yield* log.range(tenantId)).last
        const events = Stream.paginate(from, (seen) =>
          Effect.gen(function* () {
            const events = yield* log.read(tenantId, seen, pageSize)
            if (events.length === 0) yield* waitFor(tenantId, seen)
            return [events, Option.some(events.at(-1)?.sequence ?? seen)] as const
          })
        )
        return { from, events }
      })

      return TenantEvents.of({ page, follow })
    })
  )

  /** The fiber that removes what is older than 30 days, for as long as the layer lives. */
  static readonly pruner = Layer.effectDiscard(
    Effect.gen(function* () {
      const log = yield* TenantEventLog
      yield* Effect.gen(function* () {
        const before = DateTime.subtractDuration(yield* DateTime.now, eventRetention)
        yield* removeInBatches((limit) => log.prune(before, limit))
      }).pipe((round) =>
        keepGoingEvery(round, { complaint: "Old events of tenants could not be removed", interval: pruneInterval })
      )
    })
  )
}
