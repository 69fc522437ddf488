/** Follows an operation to its end by its stream, and prints what happens on the way. */
import { Effect, Redacted, Schedule, Stream } from "effect"
import type { OperationId } from "#domain/values/Ids.ts"
import { type ExecutionEvent, executionEvents, fromTheBeginning } from "#http/client/client.ts"
import { JourneyFailed } from "#src/demo/JourneyFailed.ts"
import { line } from "#src/demo/print.ts"
import { Sandbox } from "#src/demo/Sandbox.ts"

export const poll = Schedule.spaced("250 millis")
export const timeout = "60 seconds"

/** Null for what the reader sees otherwise. */
const textOf = (event: ExecutionEvent): string | null => {
  switch (event.kind) {
    case "execution.state_changed":
      return event.payload.to
    case "execution.timeline_appended":
      return event.payload.message
    case "execution.progress":
      return `${event.payload.percent}%  ${event.payload.message}`
    default:
      return null
  }
}

/** Fails when the operation ends as anything but `completed`. */
export const completed = Effect.fnUntraced(function* (operationId: OperationId) {
  const { apiKey, overview } = yield* Sandbox
  const account = { baseUrl: overview.apiBaseUrl, apiKey: Redacted.make(apiKey) }
  yield* executionEvents(account, operationId, { lastEventId: fromTheBeginning }).pipe(
    Stream.runForEach((event) => {
      if (event.kind === "execution.error")
        return Effect.fail(new JourneyFailed({ message: `Operation ${operationId} ended: ${event.payload.message}` }))
      const text = textOf(event)
      return text === null ? Effect.void : line(`  ${text}`)
    }),
    Effect.timeout(timeout)
  )
  return { operationId }
})
