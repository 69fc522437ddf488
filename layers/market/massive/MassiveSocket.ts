/** One connection to Massive's stocks socket, from the handshake to its end. */
import { Cause, Clock, Duration, Effect, Queue, Redacted, Schema } from "effect"
import { WebSocket } from "ws"
import { FeedRefused } from "#domain/stream/MarketFeed.ts"
import { withinRealTime } from "#layers/clock/withinRealTime.ts"

/** The connection ended, or never came about; another may. */
export class ConnectionLost extends Schema.TaggedError<ConnectionLost>()("ConnectionLost", {
  reason: Schema.String,
  /** Another connection with the same key pushed this one out: to reconnect immediately would push that one out. */
  isSurplus: Schema.Boolean
}) {}

const lost = (reason: string, isSurplus = false) => new ConnectionLost({ reason, isSurplus })

const openLimit = Duration.seconds(10)
/**
 * Pause between two pings; a connection that has not answered the previous one is dead. Silence alone is not: markets
 * close.
 */
const pingInterval = Duration.seconds(30)
/** A frame of Massive is far shorter. */
const longestFrame = 4 * 1024 * 1024
/** Frames that wait to be read; the oldest are pushed out, so that a slow reader is never why Massive cuts us. */
const maxFrames = 10_000
/** Channels in one request. */
const channelsPerRequest = 200

export interface MassiveSocket {
  /** The next frame; fails when the connection ends. */
  readonly frame: Effect.Effect<string, ConnectionLost>
  readonly subscribe: (symbols: ReadonlyArray<string>) => void
  readonly unsubscribe: (symbols: ReadonlyArray<string>) => void
  readonly authenticate: (key: Redacted.Redacted) => void
}

export const openSocket = Effect.fnUntraced(function* (url: string) {
  const frames = yield* Queue.sliding<string, ConnectionLost>(maxFrames)
  const socket = yield* Effect.acquireRelease(
    Effect.sync(
      () => new WebSocket(url, { perMessageDeflate: false, maxPayload: longestFrame, followRedirects: false })
    ),
    (open) =>
      Effect.sync(() => {
        // In order, so that the provider frees the connection immediately; cut when it does not answer.
        open.close(1000)
        setTimeout(() => open.terminate(), 1_000).unref()
      })
  )
  const clock = yield* Clock.Clock
  let pongAt = clock.monotonicTimeNanosUnsafe()
  let fault = ""
  socket.on("message", (data) => Queue.offerUnsafe(frames, data.toString()))
  socket.on("pong", () => (pongAt = clock.monotonicTimeNanosUnsafe()))
  socket.on("error", (error) => (fault = error.message))
  socket.on("close", (code, reason) => {
    const said = fault || `closed with ${code} ${reason.toString().slice(0, 100)}`.trim()
    Queue.failCauseUnsafe(frames, Cause.fail(lost(said)))
  })

  const opened = Effect.callback<void, ConnectionLost>((resume) => {
    if (socket.readyState === socket.OPEN) return resume(Effect.void)
    socket.once("open", () => resume(Effect.void))
    socket.once("close", () => resume(Effect.fail(lost(fault || "the handshake was refused"))))
  })
  yield* withinRealTime(openLimit, () => lost(`no connection in ${Duration.format(openLimit)}`))(opened)

  const pinger = setInterval(() => {
    const silence = clock.monotonicTimeNanosUnsafe() - pongAt
    if (silence > 2_500_000n * BigInt(Duration.toMillis(pingInterval))) return socket.terminate()
    socket.ping()
  }, Duration.toMillis(pingInterval))
  yield* Effect.addFinalizer(() => Effect.sync(() => clearInterval(pinger)))

  const send = (action: string, params: string) => {
    if (socket.readyState === socket.OPEN) socket.send(JSON.stringify({ action, params }))
  }
  const sendChannels = (action: string, symbols: ReadonlyArray<string>) => {
    for (let first = 0; first < symbols.length; first += channelsPerRequest) {
      const part = symbols.slice(first, first + channelsPerRequest)
      send(action, part.map((symbol) => `A.${symbol}`).join(","))
    }
  }
  const connection: MassiveSocket = {
    frame: Queue.take(frames),
    subscribe: (symbols) => sendChannels("subscribe", symbols),
    unsubscribe: (symbols) => sendChannels("unsubscribe", symbols),
    authenticate: (key) => send("auth", Redacted.value(key))
  }
  return connection
})

/** What a status means for the connection; nothing for those that only inform. */
export const judge = (status: string, message: string): Effect.Effect<void, ConnectionLost | FeedRefused> => {
  if (status === "auth_failed")
    return Effect.fail(new FeedRefused({ reason: "the key was refused; check MASSIVE_API_KEY" }))
  if (status === "max_connections") return Effect.fail(lost("another connection uses this key", true))
  if (status === "disconnected") return Effect.fail(lost(message || "the provider disconnects"))
  if (status === "error" || status.startsWith("not_")) return Effect.logWarning(`Massive sent ${status}: ${message}`)
  return Effect.void
}
