/** The frames of docs/stream.md as bytes. */
import type { Frame } from "#domain/stream/Frame.ts"
import type { MarketEvent } from "#domain/stream/MarketData.ts"
import { textFrame } from "#stream/textFrame.ts"

export const encode = (frame: Frame): Uint8Array => textFrame(JSON.stringify(frame))

/**
 * An event with its frames, each made once for all sockets, and only of followed topics: an event is one
 * of its asset's topic and of each collection's.
 */
export class FramedEvent {
  readonly sequence: number
  readonly event: MarketEvent
  readonly #frames = new Map<string, Uint8Array>()

  constructor(event: MarketEvent) {
    this.sequence = event.sequence
    this.event = event
  }

  frame(topic: string): Uint8Array {
    const made = this.#frames.get(topic)
    if (made !== undefined) return made
    const { data, previous, sequence, symbol } = this.event
    const frame = encode({ v: 1, type: "event", topic, sequence, previous, symbol, data })
    this.#frames.set(topic, frame)
    return frame
  }
}
