/**
 * An event of the stream of an operation as chunks of the AG-UI protocol; pure. Runs and steps are balanced within each
 * connection: a step is a state of the operation that does not end it, and each event but the snapshot is exactly one
 * `STATE_DELTA` that contains it as `rawEvent`.
 */
import { DateTime } from "effect"
import type * as Domain from "#domain/execution/ExecutionEvent.ts"
import type { AccessEnded } from "#domain/identity/access/StandingAccess.ts"
import { isTerminal, type OperationState } from "#domain/operation/Operation.ts"
import { accessEndedCodes, type AgUiEvent, type AgUiState } from "#http/v1/agUi/AgUiModel.ts"
import { executionView, resultView } from "#http/execution/executionView.ts"

type Change = Partial<Pick<AgUiState, "state" | "completedSteps" | "totalSteps" | "result" | "error">>

const begins = (state: OperationState | null, timestamp: number): ReadonlyArray<AgUiEvent> =>
  state === null || isTerminal(state) ? [] : [{ type: "STEP_STARTED", timestamp, stepName: state }]

const ends = (state: OperationState | null, timestamp: number): ReadonlyArray<AgUiEvent> =>
  state === null || isTerminal(state) ? [] : [{ type: "STEP_FINISHED", timestamp, stepName: state }]

export const agUiEvents = (event: Domain.ExecutionEvent): ReadonlyArray<AgUiEvent> => {
  const { at, body, cursor, operationId } = event
  const timestamp = DateTime.toEpochMillis(at)
  const rawEvent = executionView(event)

  const delta = (change: Change): AgUiEvent => ({
    type: "STATE_DELTA",
    timestamp,
    delta: Object.entries({ ...change, updatedAt: rawEvent.ts, sequence: cursor.sequence }).map(([field, value]) => ({
      op: "replace",
      path: `/${field}`,
      value
    })),
    rawEvent
  })

  switch (body.kind) {
    case "execution.snapshot": {
      const { kind, portfolioId, submittedAt } = body.operation
      const snapshot: AgUiState = {
        operationId,
        portfolioId,
        kind,
        submittedAt: DateTime.formatIso(submittedAt),
        updatedAt: rawEvent.ts,
        sequence: cursor.sequence,
        result: null,
        ...body.standing
      }
      return [
        { type: "RUN_STARTED", timestamp, threadId: portfolioId, runId: operationId },
        { type: "STATE_SNAPSHOT", timestamp, snapshot, rawEvent },
        ...begins(body.standing.state, timestamp)
      ]
    }
    case "execution.state_changed":
      return [...ends(body.from, timestamp), delta({ state: body.to }), ...begins(body.to, timestamp)]
    case "execution.progress": {
      const { completedSteps, totalSteps } = body
      return [delta({ completedSteps, totalSteps })]
    }
    case "execution.timeline_appended": {
      const { data, event: what, kind, message } = body
      return [{ type: "CUSTOM", timestamp, name: kind, value: { message, event: what, data } }, delta({})]
    }
    case "execution.result": {
      const result = resultView(body.result)
      const { portfolioId } = body.result
      return [delta({ result }), { type: "RUN_FINISHED", timestamp, threadId: portfolioId, runId: operationId, result }]
    }
    case "execution.error": {
      const { code, message } = body.error
      return [delta({ error: message }), { type: "RUN_ERROR", timestamp, message, code }]
    }
  }
}

/** What a client receives that may follow no longer: its connection ends, and the run goes on. `at` in milliseconds. */
export const accessEndedChunk = ({ _tag, message }: AccessEnded, at: number): AgUiEvent => ({
  type: "RUN_ERROR",
  timestamp: at,
  message,
  code: accessEndedCodes[_tag]
})
