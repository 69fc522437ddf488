/**
 * Chunks of an event as frames: `data` alone, as the protocol has them. The last one has the id after which the stream
 * goes on, so whoever was cut in the middle of an event is sent all of it again.
 */
import type * as Domain from "#domain/execution/ExecutionEvent.ts"
import { writeCursor } from "#domain/execution/ExecutionCursor.ts"
import { agUiEvents } from "#http/v1/agUi/agUiEvents.ts"
import type { Frame } from "#http/v1/eventStream.ts"

export const agUiFrames = (event: Domain.ExecutionEvent): ReadonlyArray<Frame> => {
  const chunks = agUiEvents(event)
  return chunks.map((chunk, index) => ({
    id: index === chunks.length - 1 ? writeCursor(event.cursor) : undefined,
    data: JSON.stringify(chunk)
  }))
}
