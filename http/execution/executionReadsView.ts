/** Executions as procedures answer them. Source: shapes J, K and L. */
import { Option } from "effect"
import { cursorOf } from "#domain/execution/ExecutionCursor.ts"
import type * as Domain from "#domain/execution/ExecutionEvent.ts"
import type { ExecutionHead } from "#domain/execution/ExecutionLog.ts"
import type { Timeline } from "#domain/execution/Executions.ts"
import type { TimelineItem } from "#http/execution/ExecutionReads.ts"
import { executionView, resultView, snapshotView, stepsView } from "#http/execution/executionView.ts"

export const executionHeadView = ({ at, operation, sequence }: ExecutionHead) =>
  snapshotView(operation, cursorOf(at, sequence))

const messageOf = (event: ReturnType<typeof executionView>): string => {
  switch (event.kind) {
    case "execution.state_changed":
      return event.payload.from === null
        ? `The operation is ${event.payload.to}`
        : `From ${event.payload.from} to ${event.payload.to}`
    case "execution.result":
      return "The operation is completed"
    case "execution.snapshot":
      return `The operation is ${event.payload.state}`
    default:
      return event.payload.message
  }
}

/** Writes the stream's event; a snapshot is none of the timeline's. */
const itemOf = (event: Domain.ExecutionEvent): ReadonlyArray<typeof TimelineItem.Type> => {
  const view = executionView(event)
  if (view.kind === "execution.snapshot") return []
  const { cursor: _cursor, eventId: _id, operationId: _operation, streamId: _stream, ...item } = view
  return [{ ...item, message: messageOf(view) }]
}

export const executionDetailView = ({ events, hasMore, recovered, steps, ...head }: Timeline) => ({
  ...executionHeadView(head),
  timeline: events.flatMap(itemOf),
  hasMore,
  steps: stepsView(steps, recovered)
})

export const executionEndView = ([{ operation }, end]: readonly [
  ExecutionHead,
  Option.Option<Domain.ExecutionEvent>
]) => {
  const body = Option.getOrUndefined(end)?.body
  return {
    operationId: operation.operationId,
    state: operation.state,
    result: body?.kind === "execution.result" ? resultView(body.result) : null,
    error: body?.kind === "execution.error" ? body.error : null
  }
}
