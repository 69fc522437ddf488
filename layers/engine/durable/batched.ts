/**
 * Many writes in one statement: what fibers ask for while a statement runs goes into the next one, so that batches grow
 * with the load and a lone write waits for nothing.
 */
import { Deferred, Effect, Exit, Queue } from "effect"

/** Rows of one statement; the driver's arrays stay small and a slow statement delays few. */
const maxBatch = 256

/**
 * Answers a function that hands an item to `flush` together with others. `flush` answers for each item; when it fails,
 * all items of that batch fail with its error. Waiting items are bounded by the fibers that ask.
 */
export const batched = Effect.fnUntraced(function* <A, B, E>(
  flush: (items: ReadonlyArray<A>) => Effect.Effect<(item: A) => B, E>
) {
  interface Waiting {
    readonly item: A
    readonly answer: Deferred.Deferred<B, E>
  }
  const queue = yield* Queue.unbounded<Waiting>()

  const round = Effect.gen(function* () {
    const waiting = yield* Queue.takeBetween(queue, 1, maxBatch)
    const exit = yield* Effect.exit(flush(waiting.map(({ item }) => item)))
    for (const { answer, item } of waiting) {
      Deferred.doneUnsafe(answer, Exit.isSuccess(exit) ? Exit.succeed(exit.value(item)) : Exit.failCause(exit.cause))
    }
  })
  yield* Effect.forkScoped(Effect.forever(round))

  return (item: A): Effect.Effect<B, E> =>
    Effect.suspend(() => {
      const answer = Deferred.makeUnsafe<B, E>()
      Queue.offerUnsafe(queue, { item, answer })
      return Deferred.await(answer)
    })
})
