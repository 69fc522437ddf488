/** Waiting workflows as the operator's routes show them. */
import { DateTime } from "effect"
import { type Monitor, workerIdOf } from "#domain/monitor/Monitor.ts"
import type { Notified, Ticked } from "#domain/monitor/Monitors.ts"

const iso = (at: DateTime.Utc | null): string | null => (at === null ? null : DateTime.formatIso(at))

const ofWorkflow = ({ workflow: { ownerAddress, workflowId } }: Monitor) => ({
  ownerAddress,
  workerId: workerIdOf(workflowId),
  workflowId
})

export const dueView = ({ monitor, requestId }: Pick<Notified, "monitor" | "requestId">) => ({
  ...ofWorkflow(monitor),
  monitorStatus: monitor.state.status,
  nextCheckAt: iso(monitor.state.nextCheckAt) ?? "",
  requestId,
  workflowStatus: monitor.workflow.status
})

const workflowView = ({ state, workflow }: Monitor) => ({
  workflowId: workflow.workflowId,
  title: workflow.title,
  status: workflow.status,
  kind: workflow.kind,
  triggerKind: workflow.trigger?.kind ?? null,
  linkedPortfolioIds: [workflow.portfolioId],
  linkedOperationIds: state.linkedOperationIds,
  // A check of a trigger is no run.
  nextRunAt: state.wait === "time" ? iso(state.nextCheckAt) : null,
  lastRunAt: iso(state.lastRunAt)
})

const stateView = ({ state }: Monitor) => ({
  status: state.status,
  readyAt: iso(state.readyAt),
  startedAt: iso(state.startedAt),
  retryAfter: iso(state.retryAfter),
  waitingUntil: iso(state.waitingUntil),
  completedAt: iso(state.completedAt),
  failedAt: iso(state.failedAt)
})

export const tickedView = ({ monitor, requestId, userId }: Ticked) => {
  const { ownerAddress, workerId } = ofWorkflow(monitor)
  const { execution } = monitor.state
  return {
    ownerAddress,
    requestId,
    userId,
    workerId,
    workflow: workflowView(monitor),
    currentExecution:
      execution === null
        ? null
        : {
            executionRequestId: execution.requestId,
            operationId: execution.operationId,
            runId: execution.operationId
          },
    monitorState: stateView(monitor)
  }
}

export const notifiedView = (asOf: DateTime.Utc, { isEnqueued, monitor, requestId }: Notified) => ({
  asOfIso: DateTime.formatIso(asOf),
  enqueued: isEnqueued,
  ...ofWorkflow(monitor),
  portfolioId: monitor.workflow.portfolioId,
  requestId
})

export const monitorView = (monitor: Monitor) => ({
  ownerAddress: monitor.workflow.ownerAddress,
  workerId: workerIdOf(monitor.workflow.workflowId),
  nextCheckAt: iso(monitor.state.nextCheckAt),
  workflow: workflowView(monitor),
  monitorState: stateView(monitor)
})
