/**
 * Answers with server-sent events: a frame an event, a comment when nothing else was sent for a while, so that proxies
 * keep the connection, and headers that keep them from holding frames back.
 *
 * A client that does not read is cut, and may resume from the last id that it has; streams also end when the server
 * does, and after a while, so that each key is looked at again.
 */
import { Effect, Metric, Stream } from "effect"
import { HttpServerResponse } from "effect/http"
import * as Metrics from "#domain/Metrics.ts"
import { boundedBody } from "#http/v1/boundedBody.ts"
import type { StreamTiming } from "#http/v1/StreamTiming.ts"

export interface Frame {
  /** Left out of frames after which nobody can resume. */
  readonly id?: string | undefined
  readonly event?: string | undefined
  /** On one line. Left out to tell where the client stands before the first event: it resumes there. */
  readonly data?: string | undefined
}

const encoder = new TextEncoder()

/** The client's pause before it connects again. */
const greeting = encoder.encode("retry: 1000\n\n")
const heartbeat = encoder.encode(": keep-alive\n\n")

const encode = ({ data, event, id }: Frame): Uint8Array =>
  encoder.encode(
    // A frame without data is no event to any client; with a pause in it, readers of frames hear of its id.
    `${id === undefined ? "" : `id: ${id}\n`}${event === undefined ? "" : `event: ${event}\n`}${data === undefined ? "retry: 1000" : `data: ${data}`}\n\n`
  )

/** All who are told of one event share its bytes, for as long as somebody holds its frame. */
const encoded = new WeakMap<Frame, Uint8Array>()

const bytesOf = (frame: Frame): Uint8Array => {
  const known = encoded.get(frame)
  if (known !== undefined) return known
  const bytes = encode(frame)
  encoded.set(frame, bytes)
  return bytes
}

/** By kind, of which there are few. */
const counters = new Map<string, Metric.Metric<number, unknown>>()

const counted = ({ event = "message" }: Frame) => {
  const counter = counters.get(event) ?? Metric.withAttributes(Metrics.streamEvents, { kind: event })
  counters.set(event, counter)
  return Metric.update(counter, 1)
}

export const eventStream = (
  frames: Stream.Stream<Frame>,
  closing: Effect.Effect<void>,
  timing: typeof StreamTiming.Service
) =>
  Effect.withFiber((request) => {
    const body = frames.pipe(
      Stream.tap((frame) => (frame.data === undefined ? Effect.void : counted(frame))),
      Stream.map(bytesOf)
    )
    return Effect.succeed(
      HttpServerResponse.stream(
        boundedBody(Stream.concat(Stream.make(greeting), body), { request, timing, closing, heartbeat }),
        {
          contentType: "text/event-stream",
          headers: { "cache-control": "no-cache, no-transform", "x-accel-buffering": "no" }
        }
      )
    )
  })
