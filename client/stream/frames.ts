/** Frames of one connection of the market-data stream. */
import type { Frame } from "#client/Contract.ts"
import { fieldsOf } from "#client/transport/answers.ts"

/** The part of a WebSocket that is needed here: of browsers, of Node, and of the library `ws`. */
export interface Socket {
  addEventListener(
    type: "open" | "message" | "error" | "close",
    listener: (event: { readonly type: string; readonly data?: unknown }) => void
  ): void
  readonly close: () => void
}

/** The worker sends a heartbeat every 20 seconds. */
const silenceLimitMs = 45_000
/** Frames that wait for a slow follower; with more the connection ends, and the next one resumes. */
const mostWaiting = 10_000

const types: ReadonlySet<unknown> = new Set<Frame["type"]>(["snapshot", "event", "gap", "skipped", "heartbeat", "pong"])

/** Undefined for types and versions that this client does not know, which it ignores. */
const frameIn = (data: unknown): Frame | undefined => {
  if (typeof data !== "string") return undefined
  try {
    const frame: unknown = JSON.parse(data)
    const { type, v } = fieldsOf(frame)
    return v === 1 && types.has(type) ? (frame as Frame) : undefined
  } catch {
    return undefined
  }
}

/** Ends when the connection does, and closes it when the follower leaves. */
export async function* framesOf(socket: Socket, leaving: AbortSignal, onOpen: () => void): AsyncGenerator<Frame, void> {
  let waiting: Array<Frame> = []
  let isOver = false
  let silence: ReturnType<typeof setTimeout> | undefined
  let wake = () => {}

  const end = () => {
    isOver = true
    wake()
  }
  const restartTimeout = () => {
    clearTimeout(silence)
    silence = setTimeout(end, silenceLimitMs)
  }
  restartTimeout()
  socket.addEventListener("open", () => {
    onOpen()
    restartTimeout()
  })
  socket.addEventListener("message", ({ data }) => {
    if (isOver) return
    restartTimeout()
    const frame = frameIn(data)
    if (frame !== undefined) waiting.push(frame)
    if (waiting.length > mostWaiting) isOver = true
    wake()
  })
  socket.addEventListener("error", () => {})
  socket.addEventListener("close", end)
  leaving.addEventListener("abort", end, { once: true })
  try {
    while (true) {
      const taken = waiting
      waiting = []
      yield* taken
      if (waiting.length > 0) continue
      if (isOver || leaving.aborted) return
      await new Promise<void>((resolve) => (wake = resolve))
    }
  } finally {
    isOver = true
    clearTimeout(silence)
    leaving.removeEventListener("abort", end)
    socket.close()
  }
}
