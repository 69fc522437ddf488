/** Counters of requests in fixed windows of a minute, one for each subject, in a bounded amount of memory. */
import { Hash } from "effect"
import { RateLimited } from "#domain/errors/Errors.ts"

/** What is left of a limit after a request was counted. */
export interface Allowance {
  readonly limit: number
  /** Requests left in the window; 0 also when this one was too many. */
  readonly remaining: number
  /** Milliseconds since the epoch at which the window ends. */
  readonly resetAt: number
  readonly isExceeded: boolean
}

/** The error of a request that its limit refuses. */
export const tooMany = (allowance: Allowance, nowMs: number): RateLimited => {
  const retryAfterSeconds = Math.max(1, Math.ceil((allowance.resetAt - nowMs) / 1000))
  return new RateLimited({
    message: `More than ${allowance.limit} requests in a minute; retry in ${retryAfterSeconds} s`,
    retryAfterSeconds
  })
}

export const windowMs = 60_000
/** Subjects with a counter of their own: about 2.5 MB when all are taken. */
const maxSubjects = 25_000
/** Counters that further subjects share while all of those are live. */
const sharedCounters = 4_096

interface Window {
  count: number
  readonly resetAt: number
}

/**
 * A live counter is never given up for another subject's, or a client with many addresses could evict counters.
 * What comes when the table is full of live ones shares a counter with others by its hash.
 *
 * All windows are equally long, so the map, in order of insertion, is in order of expiry: the expired ones are at its
 * head.
 */
export const makeFixedWindows = (limit: number) => {
  const windows = new Map<string, Window>()
  const shared = new Map<number, Window>()

  const dropExpired = (now: number) => {
    for (const [subject, { resetAt }] of windows) {
      if (resetAt > now) return
      windows.delete(subject)
    }
  }

  const opened = <Key>(table: Map<Key, Window>, key: Key, now: number): Window => {
    const window = { count: 0, resetAt: now + windowMs }
    table.delete(key)
    table.set(key, window)
    return window
  }

  const windowOf = (subject: string, now: number): Window => {
    const known = windows.get(subject)
    if (known !== undefined && known.resetAt > now) return known
    dropExpired(now)
    if (windows.size < maxSubjects) return opened(windows, subject, now)
    const key = (Hash.string(subject) >>> 0) % sharedCounters
    const common = shared.get(key)
    return common !== undefined && common.resetAt > now ? common : opened(shared, key, now)
  }

  return (subject: string, now: number): Allowance => {
    const window = windowOf(subject, now)
    const isExceeded = window.count >= limit
    if (!isExceeded) window.count += 1
    return { limit, remaining: limit - window.count, resetAt: window.resetAt, isExceeded }
  }
}
