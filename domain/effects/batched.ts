/**
 * Many requests in one statement: requests of fibers while a statement runs go into the next one, so that batches
 * grow with the load and a lone request waits for nothing.
 */
import { Deferred, Duration, Effect, Exit, Option, Queue, Tracer } from "effect"

/** Requests of one statement; a slow statement delays few. */
const maxBatch = 256

interface Waiting<A, B, E> {
  readonly item: A
  readonly answer: Deferred.Deferred<B, E>
  /** What the asker was doing, for its trace. */
  readonly span: Option.Option<Tracer.AnySpan>
}

/** A statement of several askers is in the trace of the first. */
const inTraceOf = <B, E, R>(effect: Effect.Effect<B, E, R>, span: Option.Option<Tracer.AnySpan>) =>
  Option.isNone(span) ? effect : Effect.provideService(effect, Tracer.ParentSpan, span.value)

/** One after the other, as many groups as an item occurs times, so that no group holds two items of one key. */
const distinctGroups = <T>(items: ReadonlyArray<T>, keyOf: (item: T) => string): ReadonlyArray<ReadonlyArray<T>> => {
  const groups: Array<Array<T>> = []
  const seen = new Map<string, number>()
  for (const item of items) {
    const times = seen.get(keyOf(item)) ?? 0
    seen.set(keyOf(item), times + 1)
    ;(groups[times] ??= []).push(item)
  }
  return groups
}

/** How groups follow one another. */
export interface BatchingOptions {
  /** How long the first of a group waits for others; none when left out. */
  readonly collectFor?: Duration.Duration
  /** Groups under way side by side; one when left out. */
  readonly concurrency?: number
}

/**
 * Answers a function that hands an item to `flush` together with others of other keys. `flush` answers for each of its
 * items at its end, and earlier where it has an answer by `record`. When it fails, each item without an answer is tried
 * alone, so that one bad item fails for itself only. Waiting items are bounded by the calling fibers. Not for use
 * inside a transaction: `flush` runs outside of it.
 */
export const batched = Effect.fnUntraced(function* <A, B, E>(
  keyOf: (item: A) => string,
  flush: (items: ReadonlyArray<A>, record: (item: A, answer: B) => void) => Effect.Effect<(item: A) => B, E>,
  { concurrency = 1, collectFor = Duration.zero }: BatchingOptions = {}
) {
  const queue = yield* Queue.unbounded<Waiting<A, B, E>>()

  const answer = (waiting: ReadonlyArray<Waiting<A, B, E>>): Effect.Effect<void> =>
    Effect.gen(function* () {
      const open = new Map(waiting.map((one) => [one.item, one]))
      const end = (item: A, exit: Exit.Exit<B, E>) => {
        const ended = open.get(item)
        open.delete(item)
        if (ended !== undefined) Deferred.doneUnsafe(ended.answer, exit)
      }
      const asked = flush([...open.keys()], (item, answer) => end(item, Exit.succeed(answer)))
      const exit = yield* Effect.exit(inTraceOf(asked, waiting[0]!.span))
      if (Exit.isFailure(exit) && waiting.length > 1) {
        return yield* Effect.forEach([...open.values()], (one) => answer([one]), { discard: true })
      }
      for (const item of open.keys()) {
        end(item, Exit.isSuccess(exit) ? Exit.succeed(exit.value(item)) : Exit.failCause(exit.cause))
      }
    })

  const round = Effect.gen(function* () {
    if (Duration.isGreaterThan(collectFor, Duration.zero))
      yield* Effect.andThen(Queue.peek(queue), Effect.sleep(collectFor))
    const waiting = yield* Queue.takeBetween(queue, 1, maxBatch)
    yield* Effect.forEach(
      distinctGroups(waiting, ({ item }) => keyOf(item)),
      answer,
      { discard: true }
    )
  })
  for (let group = 0; group < concurrency; group++) yield* Effect.forkScoped(Effect.forever(round))

  return (item: A): Effect.Effect<B, E> =>
    Effect.flatMap(Effect.serviceOption(Tracer.ParentSpan), (span) => {
      const waiting: Waiting<A, B, E> = { item, answer: Deferred.makeUnsafe<B, E>(), span }
      Queue.offerUnsafe(queue, waiting)
      return Deferred.await(waiting.answer)
    })
})

/**
 * Returns a function that reads what a key names, once for all calls before the read begins: no call gets what was
 * read before it was made. Not for use inside a transaction.
 */
export const shared = <K extends string | number, A>(read: (key: K) => Effect.Effect<A>) =>
  Effect.gen(function* () {
    const scope = yield* Effect.scope
    const next = new Map<K, Deferred.Deferred<A>>()
    const busy = new Set<K>()

    const round = (key: K): Effect.Effect<void> =>
      Effect.suspend(() => {
        const answer = next.get(key)
        if (answer === undefined) {
          busy.delete(key)
          return Effect.void
        }
        next.delete(key)
        busy.add(key)
        return Effect.exit(read(key)).pipe(
          Effect.flatMap((exit) => Effect.sync(() => Deferred.doneUnsafe(answer, exit))),
          Effect.andThen(round(key))
        )
      })

    return (key: K): Effect.Effect<A> =>
      Effect.suspend(() => {
        const answer = next.get(key) ?? Deferred.makeUnsafe<A>()
        next.set(key, answer)
        if (busy.has(key)) return Deferred.await(answer)
        busy.add(key)
        return Effect.andThen(Effect.forkIn(round(key), scope), Deferred.await(answer))
      })
  })
