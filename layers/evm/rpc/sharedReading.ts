/**
 * Requests that callers may share for a moment: readings whose slightly older answer does no harm, and bytes sent
 * again.
 */
import { Clock, Deferred, Duration, Effect, type Scope } from "effect"

interface Held<A, E> {
  readonly answer: Deferred.Deferred<A, E>
  /** Monotonic nanoseconds at which it began. */
  readonly since: bigint
}

/** Answers that are kept; the oldest goes. */
const capacity = 1_024

export interface SharedReading<I, A, E> {
  readonly read: (item: I) => Effect.Effect<A, E>
  /** The next call for the key makes a request. */
  readonly invalidate: (key: string | number) => Effect.Effect<void>
}

/**
 * `read` makes a request for an item, or gives the answer of one for the same key that began at most
 * `maxAge` ago, which may still be under way. A failure is for its waiting callers and is not kept.
 */
export const sharedReading = <I, A, E>(
  maxAge: Duration.Duration,
  keyOf: (item: I) => string | number,
  read: (item: I) => Effect.Effect<A, E>
): Effect.Effect<SharedReading<I, A, E>, never, Scope.Scope> =>
  Effect.gen(function* () {
    const scope = yield* Effect.scope
    const ageNanos = BigInt(Math.round(Duration.toMillis(maxAge))) * 1_000_000n
    const held = new Map<string | number, Held<A, E>>()

    const begin = Effect.fnUntraced(function* (item: I, since: bigint) {
      const key = keyOf(item)
      const own: Held<A, E> = { answer: Deferred.makeUnsafe<A, E>(), since }
      held.delete(key)
      held.set(key, own)
      if (held.size > capacity) held.delete(held.keys().next().value!)
      const reading = Effect.map(Effect.exit(read(item)), (exit) => {
        if (exit._tag === "Failure" && held.get(key) === own) held.delete(key)
        Deferred.doneUnsafe(own.answer, exit)
      })
      // The first caller may be interrupted; the others still wait.
      yield* Effect.forkIn(reading, scope)
      return own.answer
    })

    return {
      read: Effect.fnUntraced(function* (item: I) {
        const now = yield* Clock.monotonicTimeNanos
        const last = held.get(keyOf(item))
        const isRecent = last !== undefined && now - last.since <= ageNanos
        return yield* Deferred.await(isRecent ? last.answer : yield* begin(item, now))
      }),
      invalidate: (key) => Effect.sync(() => held.delete(key))
    }
  })
