/**
 * Answers with server-sent events: a frame an event, a comment when nothing else was sent for a while, so that proxies
 * keep the connection, and headers that keep them from holding frames back.
 *
 * A client that does not read is cut, and may resume from the last id that it has; streams also end when the server
 * does, after a while, and with a last frame when their holder may follow no longer.
 */
import { type Context, Effect, Metric, type Stream } from "effect"
import { HttpServerResponse } from "effect/http"
import type { StreamPermit } from "#domain/execution/StreamPermit.ts"
import type { AccessEnded } from "#domain/identity/access/StandingAccess.ts"
import * as Metrics from "#domain/effects/Metrics.ts"
import type { ShutdownState } from "#http/ShutdownState.ts"
import { boundedBody } from "#http/streaming/boundedBody.ts"
import { streamHeaders } from "#http/streaming/streamHeaders.ts"
import type { StreamTiming } from "#http/streaming/StreamTiming.ts"

export interface Frame {
  /** Left out of frames after which no client can resume. */
  readonly id?: string | undefined
  readonly event?: string | undefined
  /** Data on one line. Some clients forget the id of a frame without any, so every frame has some. */
  readonly data: string
}

const encoder = new TextEncoder()

/** The client's pause before it connects again. */
const greeting = encoder.encode("retry: 1000\n\n")
const heartbeat = encoder.encode(": keep-alive\n\n")

const textOf = ({ data, event, id }: Frame): string =>
  (id === undefined ? "" : `id: ${id}\n`) + (event === undefined ? "" : `event: ${event}\n`) + `data: ${data}\n\n`

const encode = (frames: ReadonlyArray<Frame>): Uint8Array => encoder.encode(frames.map(textOf).join(""))

/** All receivers of an event share its bytes, for as long as its frames are held. */
const encoded = new WeakMap<ReadonlyArray<Frame>, Uint8Array>()

const bytesOf = (frames: ReadonlyArray<Frame>): Uint8Array => {
  const known = encoded.get(frames)
  if (known !== undefined) return known
  const bytes = encode(frames)
  encoded.set(frames, bytes)
  return bytes
}

/** Counters by kind, of which there are few. */
const counters = new Map<string, Metric.Metric<number, unknown>>()

const count = (frames: ReadonlyArray<Frame>, context: Context.Context<never>): void => {
  for (const { event = "message" } of frames) {
    const counter = counters.get(event) ?? Metric.withAttributes(Metrics.streamEvents, { kind: event })
    counters.set(event, counter)
    counter.updateUnsafe(1, context)
  }
}

export interface EventSource<A> {
  readonly stream: Stream.Stream<A>
  /** What a value is sent as, whole or not at all. Answers the same frames for as long as a value is shared. */
  readonly framesOf: (value: A) => ReadonlyArray<Frame>
  /** Where the stream does not end by itself when its holder may follow no longer. */
  readonly ending?: Ending
}

export interface Ending {
  readonly permit: StreamPermit
  /** The last frames, which say why. */
  readonly framesOf: (why: AccessEnded) => ReadonlyArray<Frame>
}

export const eventStream = <A>(
  { ending, framesOf, stream }: EventSource<A>,
  closing: ShutdownState["Service"],
  timing: typeof StreamTiming.Service
) =>
  Effect.withFiber((request) => {
    const { context } = request
    const toBytes = (value: A): Uint8Array => {
      const frames = framesOf(value)
      count(frames, context)
      return bytesOf(frames)
    }
    const onEnd =
      ending === undefined
        ? undefined
        : (end: (farewell: Uint8Array) => void) => ending.permit.onEnd((why) => end(encode(ending.framesOf(why))))
    return Effect.succeed(
      HttpServerResponse.stream(
        boundedBody(
          { stream, bytesOf: toBytes },
          { request, timing, closing, greeting, heartbeat, ...(onEnd === undefined ? {} : { onEnd }) }
        ),
        {
          contentType: "text/event-stream",
          headers: streamHeaders
        }
      )
    )
  })
