/**
 * The frontend side of PostgreSQL's wire protocol, as far as a go-between must read it. Every frame is a type byte, a
 * length that counts itself, and a body; only a connection's first frame has no type byte.
 * Source: PostgreSQL documentation, "Message Formats".
 */

/** One whole frame of the client; `type` is undefined for the first of a connection. */
export interface Frame {
  readonly type: string | undefined
  readonly body: Buffer
  /** Position after the frame. */
  readonly end: number
}

/** The frame at `start`, or undefined when it has not arrived whole. */
export const frameAt = (bytes: Buffer, start: number, isFirst: boolean): Frame | undefined => {
  const lengthAt = isFirst ? start : start + 1
  if (bytes.length < lengthAt + 4) return undefined
  const end = lengthAt + bytes.readInt32BE(lengthAt)
  if (bytes.length < end) return undefined
  return {
    type: isFirst ? undefined : String.fromCharCode(bytes[start]!),
    body: bytes.subarray(lengthAt + 4, end),
    end
  }
}

const cancelRequestCode = 80877102

/** True for a first frame that asks to cancel another connection's query instead of opening one. */
export const isCancelRequest = (frame: Frame): boolean =>
  frame.type === undefined && frame.body.length >= 4 && frame.body.readInt32BE(0) === cancelRequestCode

const textAt = (bytes: Buffer, start: number): string => bytes.toString("utf8", start, bytes.indexOf(0, start))

/**
 * The name of the prepared statement that a Parse frame makes; empty for the unnamed one, undefined for other frames.
 */
export const preparedName = (frame: Frame): string | undefined =>
  frame.type === "P" ? textAt(frame.body, 0) : undefined

/** The name of the prepared statement that a Close frame drops; undefined for other frames. */
export const closedName = (frame: Frame): string | undefined =>
  frame.type === "C" && frame.body[0] === "S".charCodeAt(0) ? textAt(frame.body, 1) : undefined

/** True for frames that the server answers with ReadyForQuery: start-up, Query and Sync. */
export const endsWithReady = (frame: Frame): boolean =>
  frame.type === undefined || frame.type === "Q" || frame.type === "S"
