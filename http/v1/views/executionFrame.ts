/** An event of the stream of an operation as a frame of server-sent events. Source: shapes 2.26. */
import type * as Domain from "#domain/execution/ExecutionEvent.ts"
import type { Frame } from "#http/v1/eventStream.ts"
import { executionView } from "#http/v1/views/executionView.ts"

export const executionFrame = (event: Domain.ExecutionEvent): Frame => {
  const view = executionView(event)
  return { id: view.cursor, event: view.kind, data: JSON.stringify(view) }
}
