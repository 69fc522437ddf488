/** An event of the stream of an operation as a frame of server-sent events. Source: shapes 2.26. */
import type * as Domain from "#domain/execution/ExecutionEvent.ts"
import type { Frame } from "#http/streaming/eventStream.ts"
import { executionView } from "#http/execution/executionView.ts"

/** All followers of an operation receive the same event, which is written once for as long as it is held. */
const written = new WeakMap<Domain.ExecutionEvent, ReadonlyArray<Frame>>()

export const executionFrames = (event: Domain.ExecutionEvent): ReadonlyArray<Frame> => {
  const known = written.get(event)
  if (known !== undefined) return known
  const view = executionView(event)
  const frames = [{ id: view.cursor, event: view.kind, data: JSON.stringify(view) }]
  written.set(event, frames)
  return frames
}
