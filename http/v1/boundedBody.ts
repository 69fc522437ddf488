/**
 * The body of an answer that goes on for as long as its client reads: at most `budget` bytes of it wait for the client.
 * Above that nothing more is made for it, and it is cut when it takes none of them within `grace`; it is also cut when
 * anything waits for `timeout`. What is cut may be resumed, so a client that is gone costs no more than the budget.
 */
import { Cause, Duration, Effect, type Fiber, Latch, Metric, type Pull, Stream } from "effect"
import * as Metrics from "#domain/Metrics.ts"
import type { StreamTiming } from "#http/v1/StreamTiming.ts"

/** Bytes that are handed to the connection at once, so that many small frames go out in one write. */
const maxWrite = 16_384

export interface BodyOptions {
  /** Answers the request; it is interrupted to end the connection. */
  readonly request: Fiber.Fiber<unknown, unknown>
  readonly timing: typeof StreamTiming.Service
  /** Sent when nothing was for a while. */
  readonly heartbeat?: Uint8Array
  /** Ends the body whole. */
  readonly closing: Effect.Effect<void>
}

const cut = (request: Fiber.Fiber<unknown, unknown>, why: string) =>
  Effect.gen(function* () {
    yield* Metric.update(Metrics.streamsCut, 1)
    yield* Effect.logWarning(`A stream was cut because its client does not read: ${why}`)
    request.interruptUnsafe()
  })

/** Whole ticks of the heartbeat in a time. */
const ticksIn = (time: Duration.Duration, { heartbeat }: typeof StreamTiming.Service): number =>
  Math.max(1, Math.ceil(Duration.toMillis(time) / Duration.toMillis(heartbeat)))

/** What waits for a client, between the fiber that makes it and the one that writes it. */
const makeOutgoing = ({ heartbeat, request, timing }: BodyOptions) => {
  const queue: Array<Uint8Array> = []
  const some = Latch.makeUnsafe(false)
  const room = Latch.makeUnsafe(false)
  let waiting = 0
  let writing = 0
  let writes = 0
  let isEnded = false

  const add = (bytes: Uint8Array) => {
    waiting += bytes.length
    queue.push(bytes)
    some.openUnsafe()
  }

  const end = Effect.sync(() => {
    isEnded = true
    some.openUnsafe()
  })

  /** Opens with the next write that the client has taken; one that takes none is cut. */
  const progress = Effect.suspend(() => {
    room.closeUnsafe()
    const late = Effect.andThen(
      Effect.sleep(timing.grace),
      Effect.suspend(() => cut(request, `${waiting} bytes wait for it`))
    )
    return Effect.raceFirst(room.await, Effect.andThen(late, Effect.never))
  })

  const give = (bytes: Uint8Array): Effect.Effect<void> =>
    Effect.suspend(() => {
      // One frame above the budget is still sent, alone.
      if (waiting > 0 && waiting + bytes.length > timing.budget) return Effect.andThen(progress, give(bytes))
      add(bytes)
      return Effect.void
    })

  const take = (): readonly [Uint8Array, ...Array<Uint8Array>] => {
    const [first, ...others] = queue.splice(0, countWithin(queue, maxWrite))
    return [first!, ...others]
  }

  const pull: Pull.Pull<readonly [Uint8Array, ...Array<Uint8Array>]> = Effect.suspend(() => {
    waiting -= writing
    writing = 0
    room.openUnsafe()
    if (queue.length === 0) {
      if (isEnded) return Cause.done()
      some.closeUnsafe()
      return Effect.andThen(some.await, pull)
    }
    const chunk = take()
    writing = chunk.reduce((sum, { length }) => sum + length, 0)
    writes += 1
    return Effect.succeed(chunk)
  })

  /** One fiber for all that happens by the clock. */
  const clock = Effect.gen(function* () {
    const patience = ticksIn(timing.timeout, timing)
    const longest = ticksIn(timing.longest, timing)
    let [stuck, before] = [0, 0]
    for (let tick = 1; tick <= longest; tick += 1) {
      yield* Effect.sleep(timing.heartbeat)
      stuck = writing > 0 && writes === before ? stuck + 1 : 0
      before = writes
      if (stuck >= patience) yield* cut(request, "it has taken nothing for too long")
      if (waiting === 0 && heartbeat !== undefined) add(heartbeat)
    }
  })

  return { give, end, pull, clock }
}

/** How many of the first make up to a number of bytes; one at least. */
const countWithin = (queue: ReadonlyArray<Uint8Array>, bytes: number): number => {
  let count = 1
  for (let sum = queue[0]!.length; count < queue.length; count += 1) {
    sum += queue[count]!.length
    if (sum > bytes) break
  }
  return count
}

export const boundedBody = (source: Stream.Stream<Uint8Array>, options: BodyOptions): Stream.Stream<Uint8Array> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const { clock, end, give, pull } = makeOutgoing(options)
      const made = Stream.runForEach(source, give).pipe(
        Effect.catchCause((cause) =>
          Cause.hasInterrupts(cause) ? Effect.void : Effect.logError("A stream ended by a fault of the service", cause)
        )
      )
      yield* Effect.forkScoped(Effect.andThen(Effect.raceFirst(made, Effect.raceFirst(clock, options.closing)), end))
      return Stream.fromPull(Effect.succeed(pull))
    })
  )
