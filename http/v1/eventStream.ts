/**
 * Answers with server-sent events: a frame an event, a comment when nothing else was sent for a while, so that proxies keep the
 * connection, and headers that keep them from holding frames back.
 *
 * What waits for a client is bounded. One that does not read is cut, and may resume from the last id that it has; so are
 * those that are still there when the server ends, or after a while, so that each key is looked at again.
 */
import { Cause, Effect, Fiber, Metric, Queue, Schedule, Stream } from "effect"
import { HttpServerResponse } from "effect/http"
import * as Metrics from "#domain/Metrics.ts"
import type { StreamPace } from "#http/v1/StreamPace.ts"

export interface Frame {
  readonly id: string
  readonly event: string
  /** On one line. */
  readonly data: string
}

/** Frames that wait for a client beside those that its connection holds. */
const maxWaiting = 64

/** The client's pause before it connects again. */
const greeting = "retry: 1000\n\n"
const heartbeat = ": keep-alive\n\n"

const textOf = ({ data, event, id }: Frame): string => `id: ${id}\nevent: ${event}\ndata: ${data}\n\n`

/** Cuts the connection: the answer is part of the request's fiber, which may be waiting for the client to read. */
const cut = (request: Fiber.Fiber<unknown, unknown>) =>
  Effect.gen(function* () {
    yield* Metric.update(Metrics.streamsCut, 1)
    yield* Effect.logWarning("A stream was cut because its client does not read")
    request.interruptUnsafe()
  })

export const eventStream = (frames: Stream.Stream<Frame>, until: Effect.Effect<void>, pace: typeof StreamPace.Service) =>
  Effect.withFiber((request) => {
    const sent = frames.pipe(
      Stream.tap(({ event }) => Metric.update(Metric.withAttributes(Metrics.streamEvents, { kind: event }), 1)),
      Stream.map(textOf),
      Stream.merge(Stream.map(Stream.fromSchedule(Schedule.spaced(pace.heartbeat)), () => heartbeat), {
        haltStrategy: "left"
      }),
      Stream.interruptWhen(Effect.raceFirst(until, Effect.sleep(pace.longest)))
    )

    const body = Stream.unwrap(
      Effect.gen(function* () {
        const queue = yield* Queue.bounded<string, Cause.Done>(maxWaiting)
        yield* Queue.offer(queue, greeting)
        const send = (frame: string) =>
          Effect.timeoutOrElse(Queue.offer(queue, frame), { duration: pace.patience, orElse: () => cut(request) })
        yield* Stream.runForEach(sent, send).pipe(
          Effect.catchCause((cause) =>
            Cause.hasInterrupts(cause)
              ? Effect.void
              : Effect.logError("A stream ended by a fault of the service", cause)
          ),
          Effect.ensuring(Queue.end(queue)),
          Effect.forkScoped
        )
        return Stream.fromQueue(queue)
      })
    )

    return Effect.succeed(
      HttpServerResponse.stream(Stream.encodeText(body), {
        contentType: "text/event-stream",
        headers: { "cache-control": "no-cache, no-transform", "x-accel-buffering": "no" }
      })
    )
  })
