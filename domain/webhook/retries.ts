/**
 * Schedule by which an event that was not accepted is sent again: after 5 seconds, then three times as long each time
 * up to 6 hours, and for the last time a day after the first attempt. The webhook pauses after each failure, up to 5
 * minutes, so that a receiver that does not answer gets a request now and then and not for every event. Each time is
 * drawn a fifth around that. A receiver may request a longer pause, up to an hour. Pure.
 */
import { DateTime, Duration } from "effect"

const firstDelay = Duration.toMillis(Duration.seconds(5))
const longestDelay = Duration.toMillis(Duration.hours(6))
const longestRest = Duration.toMillis(Duration.minutes(5))
const maxRequestedPause = Duration.toMillis(Duration.hours(1))
const spread = 0.2

/** Time for which an event is tried, and for which a webhook may fail before it is disabled. */
const attemptWindow = Duration.hours(24)

/** What was tried without success, the attempt that just failed included. */
export interface Failures {
  /** Attempts of this event. */
  readonly attempts: number
  readonly firstAttemptAt: DateTime.Utc
  /** Failures of the webhook, one after the other. */
  readonly failures: number
  readonly failingSince: DateTime.Utc
  /** What the receiver requested, where it did. */
  readonly retryAfterSeconds?: number | undefined
}

export interface AfterFailure {
  /** Null: the event is given up. */
  readonly dueAt: DateTime.Utc | null
  readonly restsUntil: DateTime.Utc
  /** Nothing was accepted for a day. The event then waits with all others. */
  readonly isDisabled: boolean
}

/** Milliseconds after so many failures; `chance` is drawn from 0 up to 1. */
export const delayMs = (failures: number, longest: number, chance: number): number =>
  Math.round(Math.min(longest, firstDelay * 3 ** Math.min(failures - 1, 20)) * (1 - spread + 2 * spread * chance))

export const afterFailure = (
  { attempts, failingSince, failures, firstAttemptAt, retryAfterSeconds = 0 }: Failures,
  now: DateTime.Utc,
  chance: number
): AfterFailure => {
  const isOver = (since: DateTime.Utc) =>
    DateTime.isGreaterThanOrEqualTo(now, DateTime.addDuration(since, attemptWindow))
  const requestedPause = Math.min(retryAfterSeconds * 1000, maxRequestedPause)
  const after = (milliseconds: number) => DateTime.add(now, { milliseconds: Math.max(milliseconds, requestedPause) })
  const restsUntil = after(delayMs(failures, longestRest, chance))
  if (isOver(failingSince)) return { dueAt: now, restsUntil, isDisabled: true }
  if (isOver(firstAttemptAt)) return { dueAt: null, restsUntil, isDisabled: false }
  const next = after(delayMs(attempts, longestDelay, chance))
  const last = DateTime.addDuration(firstAttemptAt, attemptWindow)
  return { dueAt: DateTime.min(next, last), restsUntil, isDisabled: false }
}
