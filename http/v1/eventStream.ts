/**
 * Answers with server-sent events: a frame an event, a comment when nothing else was sent for a while, so that proxies
 * keep the connection, and headers that keep them from holding frames back.
 *
 * Frames are made as the client takes them. One that does not read is cut, and may resume from the last id that it has;
 * streams also end when the server does, and after a while, so that each key is looked at again.
 */
import { Effect, type Fiber, Metric, Schedule, Stream } from "effect"
import { HttpServerResponse } from "effect/http"
import * as Metrics from "#domain/Metrics.ts"
import type { StreamTiming } from "#http/v1/StreamTiming.ts"

export interface Frame {
  readonly id: string
  readonly event: string
  /** On one line. */
  readonly data: string
}

/** The client's pause before it connects again. */
const greeting = "retry: 1000\n\n"
const heartbeat = ": keep-alive\n\n"

const textOf = ({ data, event, id }: Frame): string => `id: ${id}\nevent: ${event}\ndata: ${data}\n\n`

const counted = ({ event }: Frame) => Metric.update(Metric.withAttributes(Metrics.streamEvents, { kind: event }), 1)

/** Ends the connection: the answer is written by the request's fiber, which may be waiting for the client to read. */
const cut = (request: Fiber.Fiber<unknown, unknown>) =>
  Effect.gen(function* () {
    yield* Metric.update(Metrics.streamsCut, 1)
    yield* Effect.logWarning("A stream was cut because its client does not read")
    request.interruptUnsafe()
  })

/** Cuts a client that has what it was last sent still before it after `timeout`, and again after as long. */
const disconnectSlowClient = (
  body: Stream.Stream<string>,
  request: Fiber.Fiber<unknown, unknown>,
  timeout: (typeof StreamTiming.Service)["timeout"]
) =>
  Stream.unwrap(
    Effect.gen(function* () {
      let written = 0
      /** Number of the chunk that is being written; 0 while none is. */
      let writing = 0
      const look = Effect.gen(function* () {
        for (let before = 0; ;) {
          yield* Effect.sleep(timeout)
          if (writing > 0 && writing === before) return yield* cut(request)
          before = writing
        }
      })
      yield* Effect.forkScoped(look)
      return Stream.transformPull(body, (pull) =>
        Effect.succeed(
          Effect.suspend(() => {
            writing = 0
            return Effect.tap(pull, () =>
              Effect.sync(() => {
                writing = ++written
              })
            )
          })
        )
      )
    })
  )

export const eventStream = (
  frames: Stream.Stream<Frame>,
  closing: Effect.Effect<void>,
  pace: typeof StreamTiming.Service
) =>
  Effect.withFiber((request) => {
    const body = frames.pipe(
      Stream.tap(counted),
      Stream.map(textOf),
      Stream.merge(
        Stream.map(Stream.fromSchedule(Schedule.spaced(pace.heartbeat)), () => heartbeat),
        {
          haltStrategy: "left"
        }
      ),
      Stream.interruptWhen(Effect.raceFirst(closing, Effect.sleep(pace.longest))),
      Stream.catchCause((cause) =>
        Stream.fromEffectDrain(Effect.logError("A stream ended by a fault of the service", cause))
      )
    )
    return Effect.succeed(
      HttpServerResponse.stream(
        disconnectSlowClient(Stream.concat(Stream.make(greeting), body), request, pace.timeout).pipe(Stream.encodeText),
        {
          contentType: "text/event-stream",
          headers: { "cache-control": "no-cache, no-transform", "x-accel-buffering": "no" }
        }
      )
    )
  })
