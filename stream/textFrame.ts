/**
 * A WebSocket text message as its bytes on the wire, from a server: one unmasked frame. Source: RFC 6455, section 5.2.
 */

const finalText = 0x81
const encoder = new TextEncoder()

const headerOf = (length: number): ReadonlyArray<number> => {
  if (length < 126) return [finalText, length]
  if (length < 65_536) return [finalText, 126, length >>> 8, length & 0xff]
  return [finalText, 127, 0, 0, 0, 0, length >>> 24, (length >>> 16) & 0xff, (length >>> 8) & 0xff, length & 0xff]
}

export const textFrame = (text: string): Uint8Array => {
  const payload = encoder.encode(text)
  const header = headerOf(payload.length)
  const frame = new Uint8Array(header.length + payload.length)
  frame.set(header)
  frame.set(payload, header.length)
  return frame
}

/** Frames one after another, as a single piece to write. */
export const joined = (frames: ReadonlyArray<Uint8Array>): Uint8Array => {
  if (frames.length === 1) return frames[0]!
  const whole = new Uint8Array(frames.reduce((length, frame) => length + frame.length, 0))
  let offset = 0
  for (const frame of frames) {
    whole.set(frame, offset)
    offset += frame.length
  }
  return whole
}
