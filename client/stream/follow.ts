/**
 * Follows topics of the market-data stream over connections that break and workers that end. Nothing is lost or
 * repeated; where the worker no longer has what was missed, a `gap` and a snapshot follows.
 */
import type { Frame, TicketTarget } from "#client/Contract.ts"
import { fieldsOf } from "#client/transport/answers.ts"
import { chance, sleep } from "#client/transport/send.ts"
import { framesOf, type Socket } from "#client/stream/frames.ts"

/** What a follower is given: heartbeats and pongs stay inside. */
export type StreamFrame = Exclude<Frame, { readonly type: "heartbeat" | "pong" }>

/** The worker refuses for a reason that trying again does not change. `error` is one of docs/stream.md. */
export class StreamRefused extends Error {
  readonly _tag = "StreamRefused"
  override readonly name = "StreamRefused"
  readonly status: number
  readonly error: string

  constructor({
    error,
    message,
    status
  }: {
    readonly status: number
    readonly error: string
    readonly message: string
  }) {
    super(message)
    this.status = status
    this.error = error
  }
}

export interface StreamOptions {
  /** The worker's address, such as `https://stream.example.com`. */
  readonly baseUrl: string
  /**
   * Opens a WebSocket; the platform's own when left out. Node has one since version 22, so with Node 20 give that of a
   * library: `(url) => new WebSocket(url)` with `import { WebSocket } from "ws"`.
   */
  readonly makeSocket?: (url: string) => Socket
  /** Goes on after a sequence that was seen before. */
  readonly afterSequence?: number
  /** Whether the browser sends cookies when it asks for a ticket, as of `fetch`. */
  readonly credentials?: RequestCredentials
}

const firstPauseMs = 200
const longestPauseMs = 10_000
const ticketMarginMs = 10_000
const answerLimitMs = 10_000

interface Ticket {
  readonly baseUrl: string
  readonly token: string
  readonly topic: string
  readonly until: number
}

/** Where a topic is served: `asset:a:b:c:d` at `/v1/assets/a/b/c/d`, `collection:a:b` at `/v1/collections/a/b`. */
const pathOf = (topic: string) => {
  const [kind, ...parts] = topic.split(":")
  return `/v1/${kind}s/${parts.map(encodeURIComponent).join("/")}`
}

const ticketIn = (body: unknown): Ticket | undefined => {
  const { baseUrl, expiresInSeconds, token, topics } = fieldsOf(body)
  const [topic] = Array.isArray(topics) ? topics : []
  if (typeof baseUrl !== "string" || typeof token !== "string") return undefined
  if (typeof topic !== "string" || typeof expiresInSeconds !== "number") return undefined
  return { baseUrl, token, topic, until: performance.now() + expiresInSeconds * 1_000 - ticketMarginMs }
}

const refusalIn = (status: number, body: unknown): StreamRefused | undefined => {
  const { error, message } = fieldsOf(body)
  if (status === 429 || status >= 500 || typeof error !== "string" || typeof message !== "string") return undefined
  return new StreamRefused({ status, error, message })
}

/** Undefined where the worker does not answer, or not now. */
const askForTicket = async (
  { baseUrl, credentials }: StreamOptions,
  target: TicketTarget,
  leaving: AbortSignal
): Promise<Ticket | undefined> => {
  const ending = new AbortController()
  const timer = setTimeout(() => ending.abort(), answerLimitMs)
  try {
    const response = await fetch(`${baseUrl.replace(/\/+$/u, "")}/v1/tickets`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(target),
      ...(credentials === undefined ? {} : { credentials }),
      signal: AbortSignal.any([ending.signal, leaving])
    })
    const body: unknown = await response.json()
    if (response.status === 200) return ticketIn(body)
    const refusal = refusalIn(response.status, body)
    if (refusal !== undefined) throw refusal
  } catch (error) {
    if (error instanceof StreamRefused) throw error
  } finally {
    clearTimeout(timer)
  }
  return undefined
}

async function* frames(
  options: StreamOptions,
  { makeSocket, target }: { readonly makeSocket: (url: string) => Socket; readonly target: TicketTarget },
  leaving: AbortSignal
): AsyncGenerator<StreamFrame, void> {
  let { afterSequence } = options
  let ticket: Ticket | undefined
  let failures = 0

  /** A frame is new unless it is of what was seen already; the position in the stream moves with it. */
  const isNews = (frame: Frame): frame is StreamFrame => {
    failures = 0
    if (frame.type === "pong") return false
    if (frame.type === "event" && frame.sequence <= (afterSequence ?? -1)) return false
    if (frame.type === "event" || frame.type === "heartbeat" || frame.type === "snapshot")
      afterSequence = frame.sequence
    return frame.type !== "heartbeat"
  }

  while (!leaving.aborted) {
    if (ticket === undefined || ticket.until <= performance.now()) ticket = await askForTicket(options, target, leaving)
    if (ticket !== undefined && !leaving.aborted) {
      const { baseUrl, token, topic } = ticket
      const position = afterSequence === undefined ? {} : { afterSequence: `${afterSequence}` }
      const query = new URLSearchParams({ token, ...position })
      const socket = makeSocket(`${baseUrl.replace(/^http/u, "ws")}${pathOf(topic)}/ws?${query}`)
      let wasOpen = false
      for await (const frame of framesOf(socket, leaving, () => (wasOpen = true))) if (isNews(frame)) yield frame
      // A handshake that was refused may have been so for its token.
      if (!wasOpen) ticket = undefined
    }
    if (leaving.aborted) return
    // Half of it is left to chance, so that not all clients of a worker that ended come back at one moment.
    const pauseMs = Math.min(longestPauseMs, firstPauseMs * 2 ** Math.min(failures, 10))
    failures += 1
    await sleep((pauseMs / 2) * (1 + chance()), leaving).catch(() => {})
  }
}

/**
 * Follows one topic of a ticket's target: the asset's or the collection's own. `return()`, or leaving a `for await`,
 * closes the connection. Fails with `StreamRefused`.
 */
export const iterate = (options: StreamOptions, target: TicketTarget): AsyncIterable<StreamFrame> => {
  const { makeSocket = typeof WebSocket === "undefined" ? undefined : (url: string) => new WebSocket(url) } = options
  if (makeSocket === undefined)
    throw new TypeError(
      'This platform has no WebSocket (Node has one since version 22): give makeSocket, such as (url) => new WebSocket(url) of "ws"'
    )
  return {
    [Symbol.asyncIterator]: () => {
      const leaving = new AbortController()
      const followed = frames(options, { makeSocket, target }, leaving.signal)
      return {
        next: () => followed.next(),
        return: async () => {
          leaving.abort()
          await followed.return()
          return { done: true, value: undefined }
        }
      }
    }
  }
}
