/** A client's socket in memory: takes frames as bytes, may stop taking them, and reads messages as a client would. */
import type { CloseReason } from "#domain/stream/Frame.ts"
import type { Outlet } from "#domain/stream/Outlet.ts"

/** Reads unmasked text frames by RFC 6455, 5.2. */
export const messagesOf = (bytes: Uint8Array): ReadonlyArray<any> => {
  const buffer = Buffer.from(bytes)
  const messages: Array<any> = []
  for (let at = 0; at < buffer.length;) {
    if (buffer[at] !== 0x81) throw new Error(`Not a final text frame at ${at}: ${buffer[at]}`)
    let length = buffer[at + 1]!
    at += 2
    if (length === 126) {
      length = buffer.readUInt16BE(at)
      at += 2
    } else if (length === 127) {
      length = Number(buffer.readBigUInt64BE(at))
      at += 8
    }
    messages.push(JSON.parse(buffer.subarray(at, at + length).toString("utf8")))
    at += length
  }
  return messages
}

export class FakeSocket implements Outlet {
  readonly received: Array<any> = []
  closed: CloseReason | undefined
  /** Whether the client takes what it is sent. */
  isReading = true
  maxPending = 0
  #pending: Array<Uint8Array> = []
  #pendingBytes = 0
  #whenDrained: (() => void) | undefined

  readonly write = (frames: Uint8Array) => {
    if (this.isReading) return void this.received.push(...messagesOf(frames))
    this.#pending.push(frames)
    this.#pendingBytes += frames.length
    this.maxPending = Math.max(this.maxPending, this.#pendingBytes)
  }
  readonly pendingBytes = () => this.#pendingBytes
  readonly whenDrained = (go: () => void) => {
    this.#whenDrained = go
  }
  readonly close = (reason: CloseReason) => {
    this.closed = reason
  }

  /** The client reads on. */
  readAll(): void {
    this.isReading = true
    const pending = this.#pending
    this.#pending = []
    this.#pendingBytes = 0
    for (const frames of pending) this.received.push(...messagesOf(frames))
    const go = this.#whenDrained
    this.#whenDrained = undefined
    go?.()
  }
}
