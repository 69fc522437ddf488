/**
 * `ballast/stream`: follows topics of the market-data stream in a browser or in Node, over connections that break and
 * workers that end. Nothing is lost or repeated; where the worker no longer has what was missed, a `gap` and a
 * snapshot follows.
 *
 *     const events = follow({ baseUrl }, { kind: "asset", assetClass: "equity", symbol: "TSLA" })   // an Effect Stream
 * for await (const frame of iterate({ baseUrl }, target)) { ... }                               // the same without
 * Effect
 */
import { Cause, Duration, Effect, Queue, Schema, Stream } from "effect"
import { Frame } from "#domain/stream/Frame.ts"
import { Ticket, type TicketTarget } from "#domain/stream/Ticket.ts"

export type { MarketData } from "#domain/stream/MarketData.ts"
export type { TicketTarget } from "#domain/stream/Ticket.ts"

/** What a follower is given: heartbeats and pongs stay inside. */
export type StreamFrame = Exclude<Frame, { readonly type: "heartbeat" | "pong" }>

/** The worker refuses for a reason that trying again does not change. `error` is one of docs/stream.md. */
export class StreamRefused extends Schema.TaggedError<StreamRefused>()("StreamRefused", {
  status: Schema.Int,
  error: Schema.String,
  message: Schema.String
}) {}

export interface StreamOptions {
  /** The worker's address, such as `https://stream.example.com`. */
  readonly baseUrl: string
  /** The part of a WebSocket that is needed here; the platform's own when left out. */
  readonly makeSocket?: (url: string) => WebSocket
  /** Goes on after a sequence that was seen before. */
  readonly afterSequence?: number
}

/** The connection is lost, or the worker cannot answer now. */
class Lost extends Schema.TaggedError<Lost>()("Lost", { isTicketSpent: Schema.Boolean }) {}

const firstPause = 200
const longestPause = 10_000
/** The worker sends a heartbeat every 20 seconds. */
const silenceLimit = 45_000
const ticketMargin = 10
const answerLimit = Duration.seconds(10)

const Refusal = Schema.Struct({ error: Schema.String, message: Schema.String })
const readFrame = Schema.decodeUnknownOption(Schema.fromJsonString(Frame))

/** Where a topic is served: `asset:a:b:c:d` at `/v1/assets/a/b/c/d`, `collection:a:b` at `/v1/collections/a/b`. */
const pathOf = (topic: string) => {
  const [kind, ...parts] = topic.split(":")
  return `/v1/${kind}s/${parts.map(encodeURIComponent).join("/")}`
}

const askForTicket = Effect.fnUntraced(
  function* (baseUrl: string, target: typeof TicketTarget.Encoded) {
    const lost = () => new Lost({ isTicketSpent: true })
    const [status, body] = yield* Effect.tryPromise({
      try: async (signal): Promise<[number, unknown]> => {
        const response = await fetch(`${baseUrl}/v1/tickets`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify(target),
          signal
        })
        return [response.status, await response.json()]
      },
      catch: lost
    })
    if (status === 200) return yield* Effect.mapError(Schema.decodeUnknownEffect(Ticket)(body), lost)
    if (status === 429 || status >= 500) return yield* lost()
    const { error, message } = yield* Effect.mapError(Schema.decodeUnknownEffect(Refusal)(body), lost)
    return yield* new StreamRefused({ status, error, message })
  },
  Effect.timeoutOrElse({ duration: answerLimit, orElse: () => Effect.fail(new Lost({ isTicketSpent: true })) })
)

/** Frames of one connection. */
const connection = (url: string, makeSocket: (url: string) => WebSocket) =>
  Stream.callback<Frame, Lost>((queue) =>
    Effect.acquireRelease(
      Effect.sync(() => {
        const socket = makeSocket(url)
        let isOpen = false
        let silence: ReturnType<typeof setTimeout> | undefined
        // A handshake that was refused may have been so for its token.
        const end = () => Queue.failCauseUnsafe(queue, Cause.fail(new Lost({ isTicketSpent: !isOpen })))
        const restartTimeout = () => {
          clearTimeout(silence)
          silence = setTimeout(() => {
            socket.close()
            end()
          }, silenceLimit)
        }
        restartTimeout()
        socket.addEventListener("open", () => {
          isOpen = true
          restartTimeout()
        })
        socket.addEventListener("message", ({ data }) => {
          restartTimeout()
          const frame = readFrame(data)
          // This client ignores unknown types.
          if (frame._tag === "Some") Queue.offerUnsafe(queue, frame.value)
        })
        socket.addEventListener("error", () => {})
        socket.addEventListener("close", end)
        return () => {
          clearTimeout(silence)
          socket.removeEventListener("close", end)
          socket.close()
        }
      }),
      (close) => Effect.sync(close)
    )
  )

/** Follows one topic of a ticket's target: the asset's or the collection's own. */
export const follow = (
  options: StreamOptions,
  target: typeof TicketTarget.Encoded
): Stream.Stream<StreamFrame, StreamRefused> =>
  Stream.suspend(() => {
    const makeSocket = options.makeSocket ?? ((url: string) => new WebSocket(url))
    let afterSequence = options.afterSequence
    let ticket: { readonly value: Ticket; readonly until: number } | undefined
    let failures = 0

    const seconds = Effect.map(
      Effect.clockWith((clock) => clock.currentTimeMillis),
      (now) => now / 1_000
    )
    const currentTicket = Effect.gen(function* () {
      const now = yield* seconds
      if (ticket !== undefined && ticket.until > now) return ticket.value
      const value = yield* askForTicket(options.baseUrl, target)
      ticket = { value, until: now + value.expiresInSeconds - ticketMargin }
      return value
    })

    /** A frame is new unless it is of what was seen already; the place in the stream moves with it. */
    const take = (frame: Frame): ReadonlyArray<StreamFrame> => {
      failures = 0
      if (frame.type === "pong") return []
      if (frame.type === "event" && frame.sequence <= (afterSequence ?? -1)) return []
      if (frame.type === "event" || frame.type === "heartbeat" || frame.type === "snapshot") {
        afterSequence = frame.sequence
      }
      return frame.type === "heartbeat" ? [] : [frame]
    }

    const once = Stream.unwrap(
      Effect.map(currentTicket, ({ baseUrl, token, topics }) => {
        const query = new URLSearchParams({
          token,
          ...(afterSequence === undefined ? {} : { afterSequence: `${afterSequence}` })
        })
        const url = `${baseUrl.replace(/^http/u, "ws")}${pathOf(topics[0]!)}/ws?${query}`
        return connection(url, makeSocket).pipe(Stream.map(take), Stream.flattenIterable)
      })
    )

    /**
     * A pause that doubles; so that not all clients of a worker that ended come back at one moment, up to half of it is
     * spread.
     */
    const pause = Effect.suspend(() => {
      const whole = Math.min(longestPause, firstPause * 2 ** Math.min(failures, 10))
      failures += 1
      const [chance = 0] = crypto.getRandomValues(new Uint8Array(1))
      return Effect.sleep(Duration.millis(whole / 2 + (whole / 2) * (chance / 255)))
    })

    return once.pipe(
      Stream.catchTag("Lost", ({ isTicketSpent }) => {
        if (isTicketSpent) ticket = undefined
        return Stream.drain(Stream.fromEffect(pause))
      }),
      Stream.forever
    )
  })

/** The same as an async iterator; `return()`, or leaving a `for await`, closes the connection. */
export const iterate = (options: StreamOptions, target: typeof TicketTarget.Encoded): AsyncIterable<StreamFrame> =>
  Stream.toAsyncIterable(follow(options, target))
