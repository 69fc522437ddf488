/**
 * Port: request counters in fixed windows of one minute.
 *
 * In memory a counter belongs to one process. A deployment of several processes behind one address shares the limits
 * only over Redis; that is another implementation of this port over the `RateLimiter` of `effect/persistence`.
 * Source: shapes 2.29 and Y.
 */
import { Clock, Context, Effect, Layer } from "effect"
import { RateLimitSettings } from "#http/middleware/RateLimitSettings.ts"
import type { RateTier } from "#http/RateTier.ts"

/** What is left of a limit after a request was counted. */
export interface Allowance {
  readonly limit: number
  /** Requests left in the window; 0 also when this one was too many. */
  readonly remaining: number
  /** Milliseconds since the epoch at which the window ends. */
  readonly resetAt: number
  readonly isExceeded: boolean
}

const windowMs = 60_000
/** Most subjects that a tier keeps counters for: at a full window about 10 MB in all. */
const maxSubjects = 25_000

interface Window {
  count: number
  readonly resetAt: number
}

/**
 * The counters of one tier. All windows are equally long, so the map, in order of insertion, is in order of expiry too:
 * the expired ones and, when it is full, the one that expires first are always at its head.
 */
const makeCounter = (limit: number) => {
  const windows = new Map<string, Window>()

  const makeRoom = (now: number) => {
    for (const [subject, { resetAt }] of windows) {
      if (resetAt > now && windows.size < maxSubjects) return
      windows.delete(subject)
    }
  }

  const open = (subject: string, now: number): Window => {
    windows.delete(subject)
    makeRoom(now)
    const window = { count: 0, resetAt: now + windowMs }
    windows.set(subject, window)
    return window
  }

  return (subject: string, now: number): Allowance => {
    const known = windows.get(subject)
    const window = known === undefined || known.resetAt <= now ? open(subject, now) : known
    const isExceeded = window.count >= limit
    if (!isExceeded) window.count += 1
    return { limit, remaining: limit - window.count, resetAt: window.resetAt, isExceeded }
  }
}

export class RateLimits extends Context.Service<
  RateLimits,
  {
    /** Counts one request of a subject (a key or an address) in a tier. */
    readonly consume: (subject: string, tier: RateTier) => Effect.Effect<Allowance>
  }
>()("ballast/http/middleware/RateLimits") {
  static readonly layerMemory = Layer.effect(
    RateLimits,
    Effect.gen(function* () {
      const settings = yield* RateLimitSettings
      const clock = yield* Clock.Clock
      const counters = {
        global: makeCounter(settings.global),
        critical: makeCounter(settings.critical),
        general: makeCounter(settings.general),
        burst: makeCounter(settings.burst)
      }
      // A ready value, so that the caller's eager combinators go on without another turn of the fiber.
      return RateLimits.of({
        consume: (subject, tier) => Effect.succeed(counters[tier](subject, clock.currentTimeMillisUnsafe()))
      })
    })
  )
}
