/**
 * Where a client stands in the stream of an operation: `<milliseconds of the event>-<its number in the stream>`.
 * Clients send it back unchanged; the time in it exposes a cursor of another operation. Source: shapes 2.26.
 */
import { DateTime } from "effect"

export interface ExecutionCursor {
  /** Milliseconds since 1970 of the event. */
  readonly at: number
  readonly sequence: number
}

/** Cursor before the first event: a client that resumes from it is sent the whole history. */
export const beginning: ExecutionCursor = { at: 0, sequence: 0 }

const form = /^(\d{1,15})-(\d{1,9})$/

export const cursorOf = (at: DateTime.Utc, sequence: number): ExecutionCursor => ({
  at: DateTime.toEpochMillis(at),
  sequence
})

export const writeCursor = ({ at, sequence }: ExecutionCursor): string => `${at}-${sequence}`

/** Undefined for a text that no stream can have sent. */
export const readCursor = (text: string): ExecutionCursor | undefined => {
  const [, at, sequence] = form.exec(text) ?? []
  return at === undefined ? undefined : { at: Number(at), sequence: Number(sequence) }
}
