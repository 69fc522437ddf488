/** One client's socket, as the stream sees it, and one client of the stream, as the socket sees it. */
import type { CloseReason } from "#domain/stream/Frame.ts"

export interface Outlet {
  /** Hands over whole WebSocket frames. Never waits; what the client has not taken yet counts as pending. */
  readonly write: (frames: Uint8Array) => void
  readonly pendingBytes: () => number
  /** Calls back once, when nothing is pending any more. */
  readonly whenDrained: (go: () => void) => void
  readonly close: (reason: CloseReason) => void
}

export interface StreamSession {
  readonly received: (text: string) => void
  /** The connection has ended, from either side. */
  readonly ended: () => void
}
