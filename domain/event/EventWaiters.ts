/**
 * Wakes streams that have read their tenant's log to its end. One poller a process reads for all of them in one
 * statement, so that it costs the same however many wait; it stops while none does.
 */
import { Deferred, Duration, Effect, Exit, Latch } from "effect"
import type { TenantEventLog } from "#domain/event/TenantEventLog.ts"
import { pollWhileOpen } from "#domain/effects/pollWhileOpen.ts"
import type { TenantId } from "#domain/values/Ids.ts"

/** Pause between two polls while a request waits. */
const pollInterval = Duration.millis(100)

interface Waiter {
  readonly tenantId: TenantId
  readonly seen: number
  readonly woken: Deferred.Deferred<void>
}

/** Returns an effect that waits until there may be something after an event; the poller runs until the scope closes. */
export const makeWaiters = Effect.fnUntraced(function* ({ grown }: TenantEventLog["Service"]) {
  const waiters = new Set<Waiter>()
  const hasSubscribers = Latch.makeUnsafe(false)

  const poll = Effect.gen(function* () {
    const least = new Map<TenantId, number>()
    for (const { seen, tenantId } of waiters) least.set(tenantId, Math.min(seen, least.get(tenantId) ?? Infinity))
    const tenants = new Set(yield* grown([...least].map(([tenantId, sequence]) => ({ tenantId, sequence }))))
    for (const { tenantId, woken } of waiters) if (tenants.has(tenantId)) Deferred.doneUnsafe(woken, Exit.void)
  })

  const complaint = "New events of tenants could not be read"
  yield* pollWhileOpen(hasSubscribers, poll, { complaint, interval: pollInterval })

  return (tenantId: TenantId, seen: number): Effect.Effect<void> =>
    Effect.suspend(() => {
      const waiter: Waiter = { tenantId, seen, woken: Deferred.makeUnsafe<void>() }
      waiters.add(waiter)
      hasSubscribers.openUnsafe()
      return Effect.ensuring(
        Deferred.await(waiter.woken),
        Effect.sync(() => {
          waiters.delete(waiter)
          if (waiters.size === 0) hasSubscribers.closeUnsafe()
        })
      )
    })
})
