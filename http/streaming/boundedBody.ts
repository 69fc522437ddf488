/**
 * The body of an answer that goes on for as long as its client reads: at most `budget` bytes of it wait for the client.
 * Above that nothing more is made for it, and it is cut when it takes none of them within `grace`; it is also cut when
 * anything waits for `timeout`. What is cut may be resumed, so a client that is gone costs no more than the budget.
 */
import { Cause, Duration, Effect, type Fiber, Latch, Metric, type Pull, Stream } from "effect"
import * as Metrics from "#domain/effects/Metrics.ts"
import type { ShutdownState } from "#http/ShutdownState.ts"
import type { StreamTiming } from "#http/streaming/StreamTiming.ts"

/** Bytes that are handed to the connection together, so that many small frames go out in one write. */
const maxWrite = 16_384

/** What a body is made of. */
export interface BodySource<A> {
  readonly stream: Stream.Stream<A>
  readonly bytesOf: (value: A) => Uint8Array
}

export interface BodyOptions {
  /** Answers the request; it is interrupted to end the connection. */
  readonly request: Fiber.Fiber<unknown, unknown>
  readonly timing: typeof StreamTiming.Service
  /** Ends the body whole. */
  readonly closing: ShutdownState["Service"]
  /** Sent before all else. */
  readonly greeting?: Uint8Array
  /** Sent when nothing was for a while. */
  readonly heartbeat?: Uint8Array
  /** Ends the body, after what waits and last bytes, when it calls back. Returns how to cancel that. */
  readonly onEnd?: (end: (farewell: Uint8Array) => void) => () => void
}

type Chunk = readonly [Uint8Array, ...Array<Uint8Array>]

const cut = (request: Fiber.Fiber<unknown, unknown>, why: string) =>
  Effect.gen(function* () {
    yield* Metric.update(Metrics.streamsCut, 1)
    yield* Effect.logWarning(`A stream was cut because its client does not read: ${why}`)
    request.interruptUnsafe()
  })

/** Whole ticks of the heartbeat in a time. */
const ticksIn = (time: Duration.Duration, { heartbeat }: typeof StreamTiming.Service): number =>
  Math.max(1, Math.ceil(Duration.toMillis(time) / Duration.toMillis(heartbeat)))

/** How many of the first make up to a number of bytes; one at least. */
const countWithin = (queue: ReadonlyArray<Uint8Array>, bytes: number): number => {
  let count = 1
  for (let sum = queue[0]!.length; count < queue.length; count += 1) {
    sum += queue[count]!.length
    if (sum > bytes) break
  }
  return count
}

/** What waits for a client, between the fiber that makes it and the one that writes it. */
class Outgoing {
  readonly #options: BodyOptions
  readonly #queue: Array<Uint8Array> = []
  readonly #room = Latch.makeUnsafe(false)
  #wake: (() => void) | undefined
  #waiting = 0
  #writing = 0
  #writes = 0
  #isEnded = false

  constructor(options: BodyOptions) {
    this.#options = options
    if (options.greeting !== undefined) this.#add(options.greeting)
  }

  #add(bytes: Uint8Array): void {
    this.#waiting += bytes.length
    this.#queue.push(bytes)
  }

  /** The writer goes on immediately, in this turn. */
  #flush(): void {
    const wake = this.#wake
    this.#wake = undefined
    wake?.()
  }

  /** What was given until now is still sent, then the last bytes, and nothing after them. */
  end(farewell?: Uint8Array): void {
    if (farewell !== undefined && !this.#isEnded) this.#add(farewell)
    this.#isEnded = true
    this.#flush()
  }

  /** Opens with the next write that the client has taken; one that takes none is cut. */
  readonly #progress = Effect.suspend(() => {
    const { request, timing } = this.#options
    this.#room.closeUnsafe()
    const late = Effect.andThen(
      Effect.sleep(timing.grace),
      Effect.suspend(() => cut(request, `${this.#waiting} bytes wait for it`))
    )
    return Effect.raceFirst(this.#room.await, Effect.andThen(late, Effect.never))
  })

  /** Hands over values in order, and waits for room where there is none. One above the budget is still sent, alone. */
  give<A>(values: ReadonlyArray<A>, bytesOf: (value: A) => Uint8Array, from = 0): Effect.Effect<void> {
    return Effect.suspend(() => {
      for (let index = from; index < values.length; index += 1) {
        const bytes = bytesOf(values[index]!)
        if (this.#waiting > 0 && this.#waiting + bytes.length > this.#options.timing.budget) {
          this.#flush()
          return Effect.andThen(this.#progress, this.give(values, bytesOf, index))
        }
        this.#add(bytes)
      }
      this.#flush()
      return Effect.void
    })
  }

  #take(): Chunk {
    const [first, ...others] = this.#queue.splice(0, countWithin(this.#queue, maxWrite))
    return [first!, ...others]
  }

  readonly #some = Effect.callback<void>((resume) => {
    this.#wake = () => resume(Effect.void)
    return Effect.sync(() => (this.#wake = undefined))
  })

  readonly pull: Pull.Pull<Chunk> = Effect.suspend(() => {
    this.#waiting -= this.#writing
    this.#writing = 0
    this.#room.openUnsafe()
    if (this.#queue.length === 0) return this.#isEnded ? Cause.done() : Effect.andThen(this.#some, this.pull)
    const chunk = this.#take()
    this.#writing = chunk.reduce((sum, { length }) => sum + length, 0)
    this.#writes += 1
    return Effect.succeed(chunk)
  })

  /** One fiber for all that happens by the clock; `expire` is run when the body has lasted for long enough. */
  readonly clock = (expire: () => void) => {
    const { heartbeat, request, timing } = this.#options
    return Effect.gen({ self: this }, function* () {
      const maxStuckTicks = ticksIn(timing.timeout, timing)
      const longest = ticksIn(timing.longest, timing)
      let [stuck, before] = [0, 0]
      for (let tick = 1; ; tick += 1) {
        yield* Effect.sleep(timing.heartbeat)
        stuck = this.#writing > 0 && this.#writes === before ? stuck + 1 : 0
        before = this.#writes
        if (stuck >= maxStuckTicks) yield* cut(request, "it has taken nothing for too long")
        if (tick === longest) expire()
        if (this.#isEnded || this.#waiting > 0 || heartbeat === undefined) continue
        this.#add(heartbeat)
        this.#flush()
      }
    })
  }
}

export const boundedBody = <A>({ bytesOf, stream }: BodySource<A>, options: BodyOptions): Stream.Stream<Uint8Array> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const outgoing = new Outgoing(options)
      const making = Stream.runForEachArray(stream, (values) => outgoing.give(values, bytesOf)).pipe(
        Effect.catchCause((cause) =>
          Cause.hasInterrupts(cause) ? Effect.void : Effect.logError("A stream ended by a fault of the service", cause)
        ),
        Effect.andThen(Effect.sync(() => outgoing.end()))
      )
      const maker = yield* Effect.forkScoped(making)
      const stop = (farewell?: Uint8Array) => {
        outgoing.end(farewell)
        maker.interruptUnsafe()
      }
      yield* Effect.forkScoped(outgoing.clock(stop))
      yield* Effect.acquireRelease(
        Effect.sync(() => [options.closing.onBegun(stop), options.onEnd?.(stop)]),
        (callOffs) => Effect.sync(() => callOffs.forEach((callOff) => callOff?.()))
      )
      return Stream.fromPull(Effect.succeed(outgoing.pull))
    })
  )
