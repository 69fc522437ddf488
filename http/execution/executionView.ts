/** An event of the stream of an operation as it is sent. Source: shapes 2.26, J, L and N. */
import { DateTime } from "effect"
import { type ExecutionCursor, writeCursor } from "#domain/execution/ExecutionCursor.ts"
import type * as Domain from "#domain/execution/ExecutionEvent.ts"
import type { Operation } from "#domain/operation/Operation.ts"
import type { ExecutionEvent } from "#http/execution/ExecutionEvent.ts"
import { operationView } from "#http/operation/operationView.ts"

export const stepsView = (steps: ReadonlyArray<Domain.LandedStep>, recovered: boolean) =>
  steps.map(({ actionHash: userOpHash, chainId, success, txHash }, stepIndex) => ({
    stepIndex,
    chainId,
    userOpHash,
    recovered,
    receipt: { userOpHash, success, receipt: { transactionHash: txHash } }
  }))

/** The operation as it is, and the last event that this includes. */
export const snapshotView = (operation: Operation, includes: ExecutionCursor) => ({
  ...operationView(operation),
  refs: { eventId: writeCursor(includes) }
})

export const resultView = ({ executionKey, portfolioId, recovered, steps }: Domain.ExecutionResult) => ({
  executionKey,
  status: "completed" as const,
  steps: stepsView(steps, recovered),
  portfolioId,
  txHashes: [...new Set(steps.map(({ txHash }) => txHash))]
})

const content = (body: Domain.ExecutionBody) => {
  switch (body.kind) {
    case "execution.snapshot":
      return { kind: body.kind, payload: snapshotView(body.operation, body.includes) }
    case "execution.state_changed":
      return { kind: body.kind, payload: { from: body.from, to: body.to } }
    case "execution.timeline_appended":
      return { kind: body.kind, payload: { message: body.message, event: body.event, data: body.data } }
    case "execution.progress": {
      const { completedSteps, message, totalSteps } = body
      const percent = Math.floor((100 * completedSteps) / totalSteps)
      return { kind: body.kind, payload: { completedSteps, totalSteps, percent, message } }
    }
    case "execution.result":
      return { kind: body.kind, payload: resultView(body.result) }
    case "execution.error":
      return { kind: body.kind, payload: body.error }
  }
}

export const executionView = ({ at, body, cursor, operationId }: Domain.ExecutionEvent): ExecutionEvent => {
  const eventId = writeCursor(cursor)
  return {
    streamId: `execution:${operationId}`,
    eventId,
    sequence: cursor.sequence,
    ts: DateTime.formatIso(at),
    operationId,
    cursor: eventId,
    ...content(body)
  }
}
