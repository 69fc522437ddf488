/**
 * Chunks of an event as frames: `data` alone, as the protocol has them. The last one has the id after which the stream
 * goes on, so a client that was cut in the middle of an event is sent all of it again.
 */
import type * as Domain from "#domain/execution/ExecutionEvent.ts"
import type { AccessEnded } from "#domain/identity/access/StandingAccess.ts"
import { writeCursor } from "#domain/execution/ExecutionCursor.ts"
import { accessEndedChunk, agUiEvents } from "#http/v1/agUi/agUiEvents.ts"
import type { Frame } from "#http/streaming/eventStream.ts"

/** Written once for all followers of the operation, as its frames of server-sent events are. */
const written = new WeakMap<Domain.ExecutionEvent, ReadonlyArray<Frame>>()

export const agUiFrames = (event: Domain.ExecutionEvent): ReadonlyArray<Frame> => {
  const known = written.get(event)
  if (known !== undefined) return known
  const frames = framesOf(event)
  written.set(event, frames)
  return frames
}

const framesOf = (event: Domain.ExecutionEvent): ReadonlyArray<Frame> => {
  const chunks = agUiEvents(event)
  return chunks.map((chunk, index) => ({
    id: index === chunks.length - 1 ? writeCursor(event.cursor) : undefined,
    data: JSON.stringify(chunk)
  }))
}

/** The last chunk of a stream whose holder may follow no longer; without an id, so that the client's position stays. */
export const agUiEndedFrames = (why: AccessEnded, at: number): ReadonlyArray<Frame> => [
  { data: JSON.stringify(accessEndedChunk(why, at)) }
]
